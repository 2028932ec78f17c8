#pragma once

// nopal::inplace_merge: as std::ranges::inplace_merge, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/merge_sort.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/raw_buffer.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sort_common.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// So few are merged in fewer comparisons than tell which of them are in their place.
inline constexpr std::size_t few_to_merge = 8;

/// Merges the first `half` of n elements and the others. By a worker if n is sorted_alone or more, or if it is slow.
template <class I, class Less>
void merge_halves(I first, std::size_t half, std::size_t n, const Less& less, bool slow) {
  if (!slow && n > few_to_merge) {  // what is in its place at both ends stays there
    const I middle = algorithms::ahead(first, half);
    if (!less(*middle, *(middle - 1))) return;
    n = half + algorithms::bound(n - half, [&](std::size_t i) { return less(*algorithms::ahead(middle, i), *(middle - 1)); });
    const std::size_t skipped = algorithms::bound(half, [&](std::size_t i) { return !less(*middle, *algorithms::ahead(first, i)); });
    first = algorithms::ahead(first, skipped);
    half -= skipped;
    n -= skipped;
    if (half == 0 || half == n) return;  // it contradicts itself
  }
  if constexpr (is_relocatable<std::iter_value_t<I>>) {
    const raw_buffer<std::iter_value_t<I>> room{n, std::nothrow};
    if (room.data() != nullptr) {
      try {
        algorithms::merge_runs(first, room.data(), half, n, less, slow ? algorithms::slow_merge_parts(n, n) : 0);
      } catch (...) {
        algorithms::carry(room.data(), first, n);
        throw;
      }
      return algorithms::carry_in_parts(room.data(), first, n);
    }
  }
  merge_sort_in_place<I, Less>{less, slow}.merge(first, half, n - half);
}

struct inplace_merge_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I middle, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    if (first == middle || middle == end) return end;
    const auto n = static_cast<std::size_t>(end - first);
    const auto half = static_cast<std::size_t>(middle - first);
    const auto plain = algorithms::plain_iterator(first);
    const projected_less<Comp, Proj> less{comp, proj};
    const bool slow = algorithms::compares_slowly(plain, n, less);
    algorithms::where_worth_it(n, [&] { algorithms::merge_halves(plain, half, n, less, slow); }, slow);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> middle, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// inplace_merge(first, middle, last, comp = less, proj = identity), inplace_merge(range, middle, comp, proj): merges two sorted parts of a
/// range, the second of which begins at `middle`, equal elements of the first part first, and returns the end, as
/// std::ranges::inplace_merge does. The comparator and the projection are called by several threads at once. Elements need only be movable.
/// It takes memory for those that change their places; without it, or where moves may throw, it swaps.
///
/// Throws what comparator, projection and moves throw, the exception of the earliest of its parts that threw; then all elements are in the
/// range, in some order, if moves do not throw. Off a pool also what default_pool() throws. O(n) work, O(n / 64 + log n) span; by swaps O(n
/// log n) work and O(n) span.
inline constexpr core::algorithms::inplace_merge_function inplace_merge{};

}  // namespace nopal
