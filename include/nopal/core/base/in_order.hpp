#pragma once

// Order in simulated time. Operations of two strands on one object (lock it, count it down, wait for it) happen in the order of their
// clocks. Next: virtual_time.hpp.

#include <atomic>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Number of simulated machines in this process.
NOPAL_API extern constinit std::atomic<unsigned> simulated_machines;
NOPAL_API NOPAL_COLD void come_in_order() noexcept;

/// Called before an operation on an object that other strands use too. On a worker of a simulated machine, all earlier operations of other
/// workers come first; so the operation finds the object as it is at this worker's time. Elsewhere one load. The caller holds no lock of
/// the library, since others may run in between.
NOPAL_INLINE void in_order() noexcept {
  // relaxed: a worker of a simulated machine was started after the machine was counted
  if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]
    come_in_order();
}

}  // namespace nopal::core
