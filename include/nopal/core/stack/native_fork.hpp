#pragma once

// The cold ends of forks in ordinary functions that offer a branch: parallel_invoke. Next: branch.hpp; suspension.hpp, which leaves the stack of
// who waits for a stolen branch.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/branch.hpp"

namespace nopal::core {

/// must_poll said yes at a fork of an ordinary function. False: so little is left of the native stack, or of memory for another, that the
/// function must do without forks.
NOPAL_API NOPAL_COLD bool may_fork_natively(worker& w) noexcept;
/// After may_fork_natively, with the branch in the deque: offers what was requested, and lets the function's own forks use the native stack
/// as far as it is safe. The caller sets the limit again that it found.
NOPAL_API NOPAL_COLD void poll_natively(worker& w) noexcept;

/// pop() said no after the first half of a fork. False: the branch is the caller's after all, who runs it. True: it was stolen and has ended,
/// and its exception is thrown.
NOPAL_API NOPAL_COLD bool branch_lost(branch& b);
/// The first half has thrown: the branch is taken back and forgotten or, if it was stolen, waited for, and its own exception dropped.
NOPAL_API NOPAL_COLD void give_up(branch& b) noexcept;

/// Runs a stolen branch by `body`, as the thief, and resumes the stack that waits for it, if there is one.
NOPAL_API NOPAL_COLD void run_stolen_branch(worker& w, branch& b, void (*body)(branch&)) noexcept;

}  // namespace nopal::core
