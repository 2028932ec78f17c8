#pragma once

// Stacks that stay: a native stack is resumed only by the thread that left it, and while it waits at a join that thread runs only what
// descends from the join. For frames of other libraries that keep something of their thread. Called by suspension.cpp, and by whoever
// resumes a stack. What it promises, why nothing stands still, and what it costs: README.md, "Stacks that stay". Next:
// ../scheduler/search.hpp, how such a thread searches.

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::core {

/// Must the stack that runs on `w` stay with its thread? By that worker.
inline bool stays(worker const& w) noexcept { return w.here->stays != 0 || w.pool().resume == resume::home; }

/// The stack on `w` is about to be left, and stays. Returns what the worker's thread keeps to meanwhile, if that is `join` or something as
/// good; else null. By the worker; before the stack is published.
NOPAL_COLD void const* stay_home(worker& w, void const* join) noexcept;
/// The stack that runs on `w` has come home. `kept_to`: what the thread kept to before the stack was left; `keeps_to`: what stay_home has
/// returned then.
NOPAL_COLD void come_home(worker& w, void const* kept_to, void const* keeps_to) noexcept;
/// The thread of `w` keeps to nothing any more, and runs anything.
inline void keep_to_nothing(worker& w) noexcept {
  w.search.keeps_to = nullptr;
  w.forget_joins();
}
/// The thread of `w`, which keeps to a join, has found nothing for long: sleeps for a moment, or until its own stack may run. False: all
/// other workers doze already. Then it must run anything, since nobody else would.
NOPAL_COLD bool doze(worker& w) noexcept;

}  // namespace nopal::core
