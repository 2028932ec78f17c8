#pragma once

// nopal::stable_sort: as std::ranges::stable_sort, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/merge_sort.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/raw_buffer.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sort_common.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class I, class Comp, class Proj>
void stable_sort_all(I first, std::size_t n, Comp& comp, Proj& proj) {
  if constexpr (whole_by_digits<I, Comp, Proj>) {
    where_worth_it(n, [&] { sort_whole<Comp>(first, n); });
  } else {
    using T = std::iter_value_t<I>;
    using less_type = projected_less<Comp, Proj>;
    const less_type less{comp, proj};
    const auto sort = [&](bool slow) {
      if (algorithms::was_a_run(first, n, less, slow)) return;
      if (n <= small_size<T> && !slow) return algorithms::small_sort(first, n, less);
      if constexpr (is_relocatable<T>) {
        const raw_buffer<T> room{n, std::nothrow};
        if (room.data() != nullptr) return merge_sort<I, less_type>{less, slow, n}.sort(first, room.data(), n, false);
      }
      merge_sort_in_place<I, less_type>{less, slow}.sort(first, n);
    };
    const bool slow = algorithms::compares_slowly(first, n, less);
    where_worth_it(n, [&] { sort(slow); }, slow);
  }
}

struct stable_sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::stable_sort_all(algorithms::plain_iterator(first), static_cast<std::size_t>(end - first), comp, proj);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// stable_sort(first, last, comp = less, proj = identity), stable_sort(range, comp, proj): sorts as std::ranges::stable_sort does, in parallel:
/// equal elements stay in their order. Returns the end. Any function on any thread may call it; off a pool, 2048 elements or more are sorted
/// on default_pool(). The comparator and the projection are called by several threads at once. Elements need only be movable.
///
/// A merge sort with memory for as many elements again; without that memory, or where moves may throw, it merges in place. Whole numbers in their own
/// order, or in reverse, are sorted by their digits. Ranges that are sorted already, or in reverse, are only looked at, or reversed.
///
/// Throws what comparator, projection and moves throw, the exception of the earliest of its parts that threw; then all elements are in the
/// range, in some order, if moves do not throw. Off a pool also what default_pool() throws.
///
/// Work: O(n log n) comparisons; span: O(log² n), with at most 64 parts of a merge at once. In place: O(n log² n) moves, and O(n) span.
inline constexpr core::algorithms::stable_sort_function stable_sort{};

}  // namespace nopal
