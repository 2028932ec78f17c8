#pragma once

// grain: the last argument of a loop or algorithm that fixes its smallest block. Plain data.

#include "nopal/core/compiler/config.hpp"

#include <cstddef>

namespace nopal::inline NOPAL_ABI {

/// No block of a loop has fewer iterations, but for the last one. parallel_for_blocks then calls its body for blocks of exactly so many,
/// counted from the first iteration, whatever the schedule. grain{0} is as none: the loop chooses.
struct grain {
  std::size_t iterations;
  constexpr explicit grain(std::size_t n) noexcept : iterations{n} {}
};

}  // namespace nopal
