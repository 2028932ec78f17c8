#pragma once

// nopal::partial_sort, nopal::partial_sort_copy: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/first_of_many.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/sort.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct partial_sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I middle, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto plain = algorithms::plain_iterator(first);
    const auto k = static_cast<std::size_t>(middle - first);
    const auto n = static_cast<std::size_t>(end - first);
    if (k > 0 && k < n) algorithms::select_first(plain, k, n, projected_less<Comp, Proj>{comp, proj});
    algorithms::sort_all(plain, k, comp, proj);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> middle, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct partial_sort_copy_function : refuses_lists, refuses_second_proxies {
  using refuses_lists::operator();
  using refuses_second_proxies::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_copyable<I1, I2> && std::sortable<I2, Comp, Proj2> && parallel_iterator<I2> &&
             std::indirect_strict_weak_order<Comp, std::projected<I1, Proj1>, std::projected<I2, Proj2>>
  std::ranges::partial_sort_copy_result<I1, I2> operator()(I1 first, S1 last, I2 result_first, S2 result_last, Comp comp = {},
                                                           Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const I1 end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const std::size_t k = algorithms::length_up_to(n, result_first, result_last);
    if (k == n) {
      algorithms::loop(n, [&](std::size_t from, std::size_t to) {
        std::ranges::copy(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(result_first, from));
      });
      algorithms::sort_all(algorithms::plain_iterator(result_first), n, comp, proj2);
    } else if (k > 0) {
      const auto places = algorithms::places_of_first(first, k, n, projected_less<Comp, Proj1>{comp, proj1});
      algorithms::loop(k, [&](std::size_t from, std::size_t to) {
        for (; from != to; ++from) *algorithms::ahead(result_first, from) = *algorithms::ahead(first, places[from]);
      });
    }
    return {end, algorithms::ahead(result_first, k)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Comp = std::ranges::less,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_copyable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>> &&
             std::sortable<std::ranges::iterator_t<R2>, Comp, Proj2> && parallel_iterator<std::ranges::iterator_t<R2>> &&
             std::indirect_strict_weak_order<Comp, std::projected<std::ranges::iterator_t<R1>, Proj1>,
                                             std::projected<std::ranges::iterator_t<R2>, Proj2>>
  std::ranges::partial_sort_copy_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range, R2&& result, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto ends = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::ranges::begin(result), algorithms::end_of(result),
                        std::move(comp), std::move(proj1), std::move(proj2));
    return {std::move(ends.in), std::move(ends.out)};
  }
};

}  // namespace core::algorithms

/// partial_sort(first, middle, last, comp = less, proj = identity), partial_sort(range, middle, comp, proj): puts before `middle`, sorted,
/// what would be there if the range were sorted, and returns the end, as std::ranges::partial_sort does. The comparator and the projection
/// are called by several threads at once. How equal elements and the others end up depends on the range alone, not on threads.
///
/// Throws what comparator, projection and moves throw; then all elements are in the range if moves do not throw. Off a pool also what
/// default_pool() throws. With k elements before `middle` O(n + k log k) expected work, O(n log n) at worst; O(n / 64 + log² n) expected
/// span.
inline constexpr core::algorithms::partial_sort_function partial_sort{};

/// partial_sort_copy(first, last, result_first, result_last, comp = less, proj1 = identity, proj2 = identity), partial_sort_copy(range,
/// result, comp, proj1, proj2): copies, sorted, as many elements as there is room for, those that would come first if the range were
/// sorted, and returns the ends, as std::ranges::partial_sort_copy does. It takes memory for a number for each element, and less if it
/// copies few of them; else as partial_sort, of a range that stays as it is. Throws what comparator, projections and copies throw, and
/// std::bad_alloc; off a pool also what default_pool() throws.
inline constexpr core::algorithms::partial_sort_copy_function partial_sort_copy{};

}  // namespace nopal
