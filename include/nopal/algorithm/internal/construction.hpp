#pragma once

// Objects that are made in parallel where none are: if one is not made, none are left.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A place of objects that are still to be made.
template <class O>
concept unmade = parallel_iterator<O> && std::is_same_v<std::remove_cvref_t<std::iter_reference_t<O>>, std::iter_value_t<O>>;

/// Calls make(from, to) for stretches that together are [0, n): each makes the objects that are so many after `first`, or throws and leaves
/// none. If one throws, all others are destroyed. Throws as loop does. O(n) work, O(n / 1024 + log n) span.
template <class O, class Make>
void make_each(O first, std::size_t n, const Make& make) {
  if constexpr (std::is_trivially_destructible_v<std::iter_value_t<O>>) {
    algorithms::loop(n, make);
  } else {
    const blocks cut{n, blocks::exactly{std::max<std::size_t>(1, (n + most_blocks - 1) / most_blocks)}};
    std::array<bool, most_blocks> made;
    std::fill_n(made.begin(), cut.count, false);
    try {
      algorithms::each_block(cut, [&](std::size_t block, std::size_t from, std::size_t to) {
        make(from, to);
        made[block] = true;
      });
    } catch (...) {
      for (std::size_t block = 0; block < cut.count; ++block) {
        if (made[block]) std::ranges::destroy(algorithms::ahead(first, cut.begin(block)), algorithms::ahead(first, cut.end(block)));
      }
      throw;
    }
  }
}

}  // namespace nopal::core::algorithms
