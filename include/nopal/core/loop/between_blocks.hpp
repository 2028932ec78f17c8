#pragma once

// What a loop tests between two of its blocks, to be split. (Before each block it also tests whether it must stop: ../stop/here.hpp.) Next:
// offer.hpp, how it splits.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if a thief has requested work from the caller. By the worker that runs the loop now. One comparison, as at each fork; it may also
/// be true for no reason.
NOPAL_INLINE bool between_blocks(worker& w) noexcept { return w.work.must_poll(); }

/// Where a loop forks nothing, and at its beginning, since short loops may come one after the other: runs what is due first. Any thread;
/// another worker may run the caller afterwards.
NOPAL_INLINE void let_due_run_between_blocks() noexcept {
  if (worker* const w = current_or_null(); w != nullptr && between_blocks(*w)) [[unlikely]]
    let_due_run();
}

}  // namespace nopal::core
