#pragma once

// What a loop tests between two of its blocks, to be split, and the fork that splits it: the later part of what it has left is offered as a
// branch while the earlier part runs. (Before each block it also tests whether it must stop: ../stop/here.hpp.) Called by loop.cpp and
// reduction.hpp, on a worker. Next: ../stack/native_fork.hpp, where the branch was stolen.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/native_fork.hpp"

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

enum class offered {
  refused,     ///< nothing has run: too little is left of the stack, or of memory
  taken_back,  ///< the earlier part has run, and the later one is the caller's
  ended,       ///< both have run
};

/// A pop of `later` failed. If a thief has it, it usually ends soon: both parts were halves of one loop. So the worker waits here for as
/// long as leaving the stack would take, before it leaves the stack. By the worker.
NOPAL_API NOPAL_COLD void wait_a_moment(branch const& later) noexcept;

/// Runs `earlier` while `later` is offered to thieves, as fork_and_poll and fork_offered of ../stack/native_fork.hpp do. Throws what
/// `earlier` throws, once no other worker knows of `later`; else what `later` has thrown. The caller may be on another worker afterwards.
template <class Earlier>
offered run_while_offered(branch& later, Earlier earlier) {
  worker* const w = current();
  bool const polls = w->work.must_poll();
  if (polls && !may_fork_natively(*w)) [[unlikely]]
    return offered::refused;
  struct restores {
    std::uintptr_t limit;
    bool polled;
    ~restores() {
      if (!polled) return;
      current()->work.set_limit_back(limit);
      polled_fork_ended();
    }
  } const before{w->work.limit(), polls};
  make_offer(*w, continuation{later});
  if (polls) poll_natively();
  try {
    earlier();
  } catch (...) {
    core::give_up(later);
    throw;
  }
  if (take_back(*current())) return offered::taken_back;
  wait_a_moment(later);
  return core::branch_lost(later) ? offered::ended : offered::taken_back;
}

/// A thief has requested work, and the loop does not fork here: publishes what the deque holds. By a worker; another one may run the caller
/// afterwards.
inline void answer_request() noexcept {
  std::uintptr_t const limit = current()->work.limit();
  poll_natively();
  current()->work.set_limit_back(limit);
}

}  // namespace nopal::core
