#pragma once

// Reversals in place, and rotations, which are three of them. All by swaps: whatever throws, all elements are in the range.

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/core/loop/sharing.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Swaps n elements from `left` on with those before `right`. A function of its own: of two places that come from one, compilers make no
/// vectors.
template <class I>
[[gnu::noinline]] void swap_towards(I left, I right, std::size_t n) {
  for (const I stop = algorithms::ahead(left, n); left != stop; ++left) std::ranges::iter_swap(left, --right);
}

/// Of n elements swaps the pairs [from, to): the pair i are the i-th and the i-th from the end.
template <class I>
void swap_pairs(I first, std::size_t n, std::size_t from, std::size_t to) {
  algorithms::swap_towards(algorithms::ahead(first, from), algorithms::ahead(first, n - from), to - from);
}

/// O(n) work, O(log n) span.
template <class I>
void reverse_all(I first, std::size_t n) {
  algorithms::loop(n / 2, [first, n](std::size_t from, std::size_t to) { algorithms::swap_pairs(first, n, from, to); });
}

/// Puts the elements [left_n, n) before the others. O(n) work, O(log n) span.
template <class I>
void rotate_all(I first, std::size_t left_n, std::size_t n) {
  const I middle = algorithms::ahead(first, left_n);
  if (!could_share()) {
    std::ranges::rotate(first, middle, algorithms::ahead(first, n));
  } else if (left_n == n - left_n) {
    algorithms::loop(left_n, [first, middle](std::size_t from, std::size_t to) {
      std::ranges::swap_ranges(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(middle, from),
                               algorithms::ahead(middle, to));
    });
  } else if (left_n > 0 && left_n < n) {
    const std::size_t pairs = left_n / 2;  // both sides are reversed at once, then all
    algorithms::loop(pairs + (n - left_n) / 2, [=](std::size_t from, std::size_t to) {
      if (from < pairs) algorithms::swap_pairs(first, left_n, from, std::min(to, pairs));
      if (to > pairs) algorithms::swap_pairs(middle, n - left_n, std::max(from, pairs) - pairs, to - pairs);
    });
    algorithms::reverse_all(first, n);
  }
}

}  // namespace nopal::core::algorithms
