#pragma once

// nopal::grain, the last argument of any loop or algorithm for who wants to fix the smallest block. Plain data.

#include "nopal/core/compiler/config.hpp"

#include <cstddef>

namespace nopal::inline NOPAL_ABI {

/// No block of a loop has fewer iterations than this, but for its last one. parallel_for_blocks is then called for blocks of exactly so
/// many, counted from the first iteration, whatever the schedule. 0: as if it were not given, and the loop finds out by itself.
struct grain {
  std::size_t iterations;
  constexpr explicit grain(std::size_t n) noexcept : iterations{n} {}
};

}  // namespace nopal
