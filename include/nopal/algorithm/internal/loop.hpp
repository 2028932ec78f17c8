#pragma once

// How the algorithms loop: over stretches of any length, where the result does not depend on them, and over blocks that depend on the number of
// elements alone, where it does.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nopal/algorithm/parallel_for_blocks.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/blocks_of.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A function as a stretch of a loop calls it with Args: a copy of its own, if it is small and plain (core/loop/blocks_of.hpp). Then no element
/// that the stretch writes can be a part of it, as far as the compiler knows.
template <class... Args, class F>
NOPAL_INLINE core::body_of_block<F, core::copied_for_a_block<F, Args...>> for_stretch(F& f) {
  return static_cast<core::source_of_body<F, core::copied_for_a_block<F, Args...>>>(f);
}
/// A value as a stretch uses it: a copy of its own, if it is a number or a pointer.
template <class T>
using value_for_stretch = std::conditional_t<std::is_scalar_v<T>, const T, const T&>;

/// Calls body(first, last) for stretches that together are [0, n). Throws what serial execution would have thrown first.
template <class Body>
void loop(std::size_t n, Body&& body) {
  nopal::parallel_for_blocks(std::size_t{0}, n, body);
}

/// As loop; what an iteration costs is remembered by the type `Site`.
template <class Site, class Body>
void loop_at(std::size_t n, Body&& body) {
  auto part = [&](std::uint64_t from, std::uint64_t to) { body(static_cast<std::size_t>(from), static_cast<std::size_t>(to)); };
  core::run_blocks<Site>(n, grain{0}, true, part);
}

/// Blocks of a multiple of 64 elements, the last of them shorter.
inline constexpr std::size_t most_blocks = 1024;
struct blocks {
  std::size_t n;
  std::size_t size;
  std::size_t count;

  explicit blocks(std::size_t elements, std::size_t least = 64)
      : n{elements}, size{(std::max(least, (n + most_blocks - 1) / most_blocks) + 63) / 64 * 64}, count{(n + size - 1) / size} {}

  /// Blocks of so many elements each.
  struct exactly {
    std::size_t size;
  };
  blocks(std::size_t elements, exactly each) : n{elements}, size{each.size}, count{(n + size - 1) / size} {}

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
