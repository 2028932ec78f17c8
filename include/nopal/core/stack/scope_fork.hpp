#pragma once

// The slow paths of a scope's forks: the child runs on a fresh stack while the forking function's stack is offered whole. Called by
// ../../scope.hpp and scope_child.hpp, by workers; child_threw and join_children also by threads that work for no pool. Why parents and
// children find each other: README.md, "Scopes". Next: children.hpp; suspension.hpp, which leaves and resumes stacks.

#include <cstdint>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stack/context.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if a scope may fork here in the fast way. The caller also checks that no task's frame is on this stack: fork_state::no_tasks.
NOPAL_INLINE bool may_leave_stack(worker const& w) noexcept {
  return !w.work.must_poll() && !w.work.must_grow() && !w.stacks.empty() && handles_none();
}
/// True if the next child of `c` must be put into a list, since there is no stack to offer. Off a pool; and where the stack stays, if
/// thieves find nothing else in this worker's ring: once an idle worker has one child to take, calling the others is cheaper. Not for a
/// scope that has children to which its parent was lost. By the scope's function.
NOPAL_API NOPAL_COLD bool must_list(children const& c) noexcept;
/// Forks `c` by the slow way. Returns when the child has ended, or when its parent was stolen and the thief resumes it. Without memory for
/// another stack the child is called here. Ends the program with a message if the scope belongs to another stack.
NOPAL_API NOPAL_COLD void fork_child(child& c, child::run_function run);
/// Finishes a fast fork in which the parent was stolen: by the thief, on the parent's stack. `a` is what nopal_context_fork returned.
NOPAL_API NOPAL_COLD void parent_stolen(children& c, after_switch* a) noexcept;
/// Records std::current_exception(), thrown by a child that was forked after `epoch` steals of its parent. Before the child arrives.
NOPAL_API NOPAL_COLD void child_threw(children& c, std::uint64_t epoch) noexcept;
/// Notes that a child has thrown. By that child, while it owns its parent: not offered yet, or taken back.
NOPAL_API NOPAL_COLD void child_had_thrown(children& c) noexcept;
/// Decides after a child has ended whose pop failed. Returns if the parent is still the caller's. Else the child arrives at the join. Then
/// the worker resumes the parent, if this was the last child and the parent waits; otherwise it searches for work.
NOPAL_API NOPAL_COLD void parent_lost(children& c) noexcept;
/// Waits for all children. Returns the exception that serial execution would have met first, or null. By the scope's function, if c.state
/// is not 0: afterwards it is. Ends the program with a message if the scope belongs to another stack.
NOPAL_API NOPAL_COLD std::exception_ptr join_children(children& c) noexcept;

}  // namespace nopal::core
