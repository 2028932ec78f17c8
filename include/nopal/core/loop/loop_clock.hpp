#pragma once

// The clock by which loops and algorithms measure what elements cost. Called by loop.cpp, sharing.cpp, fixed_tree.hpp, slow_values.hpp and
// the algorithms. Next: pace.hpp, which uses the measured cost.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// In ticks of clock_ticks(). On a simulated machine with given times, by the caller's clock there: what takes no real time may cost much.
/// Any thread.
NOPAL_API std::uint64_t loop_ticks() noexcept;

}  // namespace nopal::core
