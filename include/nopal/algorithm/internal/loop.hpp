#pragma once

// How the algorithms loop: over stretches of any length, where the result does not depend on them, and over blocks that depend on the number of
// elements alone, where it does.

#include <algorithm>
#include <cstddef>

#include "nopal/algorithm/parallel_for_blocks.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Calls body(first, last) for stretches that together are [0, n). Throws what serial execution would have thrown first.
template <class Body>
void loop(std::size_t n, Body&& body) {
  nopal::parallel_for_blocks(std::size_t{0}, n, body);
}

/// Blocks of a multiple of 64 elements, the last of them shorter.
inline constexpr std::size_t most_blocks = 1024;
struct blocks {
  std::size_t n;
  std::size_t size;
  std::size_t count;

  explicit blocks(std::size_t elements, std::size_t least = 64)
      : n{elements}, size{(std::max(least, (n + most_blocks - 1) / most_blocks) + 63) / 64 * 64}, count{(n + size - 1) / size} {}

  [[nodiscard]] std::size_t begin(std::size_t block) const { return block * size; }
  [[nodiscard]] std::size_t end(std::size_t block) const { return std::min(n, (block + 1) * size); }
};

/// Calls body(block, first, last) for each block. Throws as loop does.
template <class Body>
void each_block(const blocks& cut, Body&& body) {
  algorithms::loop(cut.count, [&](std::size_t first, std::size_t last) {
    for (; first != last; ++first) body(first, cut.begin(first), cut.end(first));
  });
}

}  // namespace nopal::core::algorithms
