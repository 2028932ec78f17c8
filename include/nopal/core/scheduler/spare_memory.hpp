#pragma once

// How a worker and the pool's timer agree on memory that nothing uses. Plain data, in each worker. Next: memory.hpp, which gives that memory
// back.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// relaxed, all of them: hints. A thread that misses one sees it the next time, since the timer looks again as long as a sleeping worker
/// holds much.
struct spare_memory {
  std::atomic<bool> much{false};       ///< the worker held much when it was left, and has not worked since; written by its owner
  std::atomic<std::uint64_t> uses{0};  ///< how often it was left; written by its owner
  std::atomic<bool> wanted{false};     ///< the timer wants it back
  std::uint64_t uses_before = 0;       ///< at the timer's last look; the timer's
  /// The worker works again, or continues its search. By its owner.
  void works_again() noexcept { much.store(false, std::memory_order_relaxed); }
};

}  // namespace nopal::core
