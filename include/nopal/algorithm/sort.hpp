#pragma once

// nopal::sort: as std::ranges::sort, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sort_common.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class I, class Comp, class Proj>
void sort_all(I first, std::size_t n, Comp& comp, Proj& proj) {
  if constexpr (whole_by_digits<I, Comp, Proj>) {
    where_worth_it(n, [&] { sort_whole<Comp>(first, n); });
  } else {
    const projected_less<Comp, Proj> less{comp, proj};
    const auto sort = [&](bool slow) {
      if (algorithms::was_a_run(first, n, less, slow)) return;
      if constexpr (by_digits<std::iter_value_t<I>, Comp, Proj, false> && std::is_pointer_v<I>) {
        if (n >= least_radix_sort && sort_by_digits<Comp>(first, n)) return;
      }
      quick_sort<I, projected_less<Comp, Proj>>{less, slow}.sort(first, n);
    };
    const bool slow = !by_digits<std::iter_value_t<I>, Comp, Proj, false> && algorithms::compares_slowly(first, n, less);
    where_worth_it(n, [&] { sort(slow); }, slow);
  }
}

struct sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::sort_all(algorithms::plain_iterator(first), static_cast<std::size_t>(end - first), comp, proj);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// sort(first, last, comp = less, proj = identity), sort(range, comp, proj): sorts as std::ranges::sort does, in parallel, not stably, and
/// returns the end. Any function on any thread may call it; off a pool, 2048 elements or more, or such as
/// take long to compare, are sorted on default_pool(). The comparator and
/// the projection are called by several threads at once. Elements need only be movable.
///
/// Numbers in their own order, or in reverse, are sorted by their digits, with memory for as many more where there is some; all else in place,
/// by comparisons: a quicksort with parallel partitions. Ranges that are sorted already, or in reverse, are only looked at, or reversed. How
/// equal elements end up depends on the range alone, not on the threads.
///
/// Throws what comparator, projection and moves throw, the exception of the earliest of its parts that threw; then all elements are in the
/// range, in some order, if moves do not throw. Off a pool also what default_pool() throws.
///
/// Work: O(n log n) comparisons; span: O(log² n) for random elements, with at most 64 parts of a partition at once. Numbers: O(n) work.
inline constexpr core::algorithms::sort_function sort{};

}  // namespace nopal
