#pragma once

// Is a range in order already, or in reverse? Random elements are found out after a few.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A part of a long range that is looked at by one thread.
inline constexpr std::size_t run_part = std::size_t{1} << 15;
/// So many elements are looked at first where that takes long.
inline constexpr std::size_t slow_run = 4;

enum class found { neither, sorted, reversed };

/// Do all neighbours of the n elements, a before b, satisfy holds(a, b)? By a worker if there are more than run_part, or if
/// `holds` is slow. O(n) work, O(log n) span where they do; what lies after a part in which they do not is hardly looked at.
template <class I, class Holds>
bool all_neighbours(I first, std::size_t n, const Holds& holds, bool slow) {
  const auto part_holds = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i) {
      if (!holds(*algorithms::ahead(first, i - 1), *algorithms::ahead(first, i))) return false;
    }
    return true;
  };
  if (!part_holds(0, std::min(n, slow ? slow_run : run_part))) return false;
  if (slow && n > slow_run) {
    return algorithms::find_first(
               slow_run, n, [&](std::size_t i) { return !holds(*algorithms::ahead(first, i - 1), *algorithms::ahead(first, i)); }) == n;
  }
  if (n <= run_part) return true;
  std::atomic<bool> broken{false};
  const std::size_t parts = (n + run_part - 1) / run_part;
  each_part(1, parts, [&](std::size_t part) {
    // Relaxed: a hint. The join of the parts orders the last load.
    if (broken.load(std::memory_order::relaxed)) return;
    if (!part_holds(part * run_part, std::min(n, (part + 1) * run_part))) broken.store(true, std::memory_order::relaxed);
  });
  return !broken.load(std::memory_order::relaxed);
}

/// Reversed: each element comes before the one ahead of it, so that no two are equal and a reversal is stable.
template <class I, class Less>
found find_run(I first, std::size_t n, const Less& less, bool slow) {
  if (n < 2) return found::sorted;
  if (less(*algorithms::ahead(first, 1), *first)) {
    return algorithms::all_neighbours(first, n, [&](auto& a, auto& b) { return less(b, a); }, slow) ? found::reversed : found::neither;
  }
  return algorithms::all_neighbours(first, n, [&](auto& a, auto& b) { return !less(b, a); }, slow) ? found::sorted : found::neither;
}

}  // namespace nopal::core::algorithms
