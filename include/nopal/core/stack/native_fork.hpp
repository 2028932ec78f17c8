#pragma once

// All that a deque holds was offered in one context, that of the deque. Called by the forks of all front ends when must_poll is true, before
// they offer; and where the program says that it has changed the mode. Why no thief gets another context: ../scheduler/README.md, "Job
// context". Next: suspension.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/branch.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The strand is about to offer something, and polls. Makes its context that of the deque; first gives away what the deque holds in
/// another. False: there was no memory for that, and nothing may be offered here.
NOPAL_API NOPAL_COLD bool may_offer_here(worker& w) noexcept;
/// A fork or a call that polled has ended. If the deque is empty, the next one polls too, though not too often: so nopal sees a mode that
/// was changed between two parallel sections without a call. By the worker that runs the strand now.
NOPAL_API NOPAL_COLD void polled_fork_ended() noexcept;
/// The code of the strand has changed its mode: the next fork polls.
NOPAL_API NOPAL_COLD void mode_changed(worker& w) noexcept;
/// Ends the program: a thief had another mode than serial execution has.
[[noreturn]] NOPAL_COLD void die_of_mode() noexcept;

// The slow paths of parallel_invoke's forks, which offer a branch. Called by invoke.hpp, by the worker that forks; run_stolen_branch by the
// thief. Next: suspension.hpp, which leaves a stack that must wait for a stolen branch.

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
