#pragma once

// What min_element, max_element and minmax_element share: a choice for each block, then one among these, in their order.

#include <algorithm>
#include <array>
#include <cstddef>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The element that no later one replaces: replaces(best, it) says whether one does. The end for no elements.
template <class I, class Replaces>
I best(I first, std::size_t n, const Replaces& replaces) {
  if (n == 0) return first;
  const blocks cut{n};
  std::array<std::size_t, most_blocks> places;
  algorithms::each_block(cut, [&](std::size_t block, std::size_t from, std::size_t to) {
    I best = algorithms::ahead(first, from);
    const I stop = algorithms::ahead(first, to);
    for (I it = best + 1; it != stop; ++it) {
      if (replaces(best, it)) best = it;
    }
    places[block] = static_cast<std::size_t>(best - first);
  });
  I result = algorithms::ahead(first, places[0]);
  for (std::size_t block = 1; block < cut.count; ++block) {
    const I it = algorithms::ahead(first, places[block]);
    if (replaces(result, it)) result = it;
  }
  return result;
}

/// The first of the least, the last of the greatest.
template <class I, class Less>
std::ranges::minmax_element_result<I> least_and_greatest(I first, std::size_t n, const Less& less) {
  if (n == 0) return {first, first};
  const blocks cut{n};
  std::array<std::size_t, most_blocks> least;
  std::array<std::size_t, most_blocks> greatest;
  algorithms::each_block(cut, [&](std::size_t block, std::size_t from, std::size_t to) {
    I low = algorithms::ahead(first, from);
    I high = low;
    const I stop = algorithms::ahead(first, to);
    for (I it = low + 1; it != stop; ++it) {
      if (less(*it, *low)) {
        low = it;
      } else if (!less(*it, *high)) {
        high = it;
      }
    }
    least[block] = static_cast<std::size_t>(low - first);
    greatest[block] = static_cast<std::size_t>(high - first);
  });
  I low = algorithms::ahead(first, least[0]);
  I high = algorithms::ahead(first, greatest[0]);
  for (std::size_t block = 1; block < cut.count; ++block) {
    const I other_low = algorithms::ahead(first, least[block]);
    const I other_high = algorithms::ahead(first, greatest[block]);
    if (less(*other_low, *low)) low = other_low;
    if (!less(*other_high, *high)) high = other_high;
  }
  return {low, high};
}

}  // namespace nopal::core::algorithms
