#pragma once

// nopal::nth_element: as std::ranges::nth_element, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sort_common.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct nth_element_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I nth, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto plain = algorithms::plain_iterator(first);
    using less = projected_less<Comp, Proj>;
    quick_sort<std::remove_const_t<decltype(plain)>, less> how{less{comp, proj}};
    const auto select = [&] { how.select(plain, n, static_cast<std::size_t>(nth - first)); };
    if (nth == end) return end;
    how.slow = algorithms::compares_slowly(plain, n, how.less);
    if (n < parallel_partition && !how.slow) {
      select();
    } else {
      algorithms::on_pool(select);
    }
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> nth, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(nth), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// nth_element(first, nth, last, comp = less, proj = identity), nth_element(range, nth, comp, proj): puts at `nth` what would be there if the range were
/// sorted, what comes after it nowhere before, and what comes before it nowhere after; returns the end, as std::ranges::nth_element does. The
/// comparator and the projection are called by several threads at once. How else the elements end up depends on the range alone, not on threads.
///
/// Throws what comparator, projection and moves throw; then all elements are in the range if moves do not throw. Off a pool, for 2^17 elements or more, or
/// where comparisons take long,
/// also what default_pool() throws. O(n) expected work, O(n log n) at worst; O(n / 64 + log² n) expected span.
inline constexpr core::algorithms::nth_element_function nth_element{};

}  // namespace nopal
