#pragma once

// The slow paths of parallel_invoke's forks, which offer a branch. Called by invoke.hpp, by the worker that forks; run_stolen_branch by the
// thief. Next: suspension.hpp, which leaves a stack that must wait for a stolen branch.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/branch.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if an ordinary function may fork here. Asked only when must_poll is true. False: too little is left of the native stack, or of
/// memory for another stack or for the deque. Then the function calls both halves.
NOPAL_API NOPAL_COLD bool may_fork_natively(worker& w) noexcept;
/// Offers what was requested, and lets the forks below use the native stack as far as it is safe. After may_fork_natively, with the branch
/// in the deque. It may change the deque's limit, which the caller restores. Another worker may run the caller afterwards.
NOPAL_API NOPAL_COLD void poll_natively() noexcept;

/// Decides after the first half of a fork whose pop failed. False: the branch is still the caller's, which runs it. True: it was stolen,
/// and has ended: this has waited for that. Throws what the branch has thrown.
NOPAL_API NOPAL_COLD bool branch_lost(branch& b);
/// Ends a fork whose first half has thrown: takes the branch back and never runs it; or, if it was stolen, waits for it, and drops what it
/// has thrown. In the handler of that exception.
NOPAL_API NOPAL_COLD void give_up(branch& b) noexcept;

/// Runs the branch `b` by `body`, on the worker `w` that has taken it, at the base of a stack. Then resumes the stack that waits for it, if
/// one does; otherwise returns.
NOPAL_API NOPAL_COLD void run_stolen_branch(worker& w, branch& b, void (*body)(branch&)) noexcept;

}  // namespace nopal::core
