#pragma once

// The cold ends of a scope's forks: the child runs on a fresh stack while the forking function's stack is offered whole. Next: children.hpp;
// suspension.hpp, which leaves and resumes stacks. Why parents and children find each other: README.md, "Scopes".

#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stack/context.hpp"

namespace nopal::core {

/// With no_tasks: may a scope fork here in the fast way?
NOPAL_INLINE bool may_leave_stack(worker const& w) noexcept {
  return !w.work.must_poll() && !w.work.must_grow() && !w.stacks.empty() && handles_none();
}
/// A scope's fork in whatever state the worker is.
NOPAL_API NOPAL_COLD void fork_child(child& c, child::run_function run);
/// The parent's stack is resumed after a fast fork in which it was stolen, by the thief.
NOPAL_API NOPAL_COLD void parent_stolen(children& c, after_switch* a) noexcept;
/// A child that was forked after `epoch` steals of its parent left std::current_exception().
NOPAL_API NOPAL_COLD void child_threw(children& c, std::uint64_t epoch) noexcept;
/// That child has taken its parent back.
NOPAL_API NOPAL_COLD void child_had_thrown(children& c) noexcept;
/// The child has ended and pop() said no. Returns if the parent is the caller's after all; else the worker does something else.
NOPAL_API NOPAL_COLD void parent_lost(children& c) noexcept;
/// Waits for the children, and takes the exception that is due. c.state is not 0.
NOPAL_API NOPAL_COLD std::exception_ptr join_children(children& c) noexcept;

}  // namespace nopal::core
