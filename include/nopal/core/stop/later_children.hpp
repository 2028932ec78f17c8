#pragma once

// What a scope forks after a child that throws is serially later, and is asked to stop. What was forked before that child is not asked; nor
// is the scope's function, since an exception of its own would hide the first one. README.md, "Exceptions". Called by the slow paths of a
// scope's forks and by its join, by the worker that runs the parent or the child. Next: ../stack/scope_child.hpp.

#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stop_region;

/// The parent was stolen: what it forks from now on is later than all children that were forked before. By the thief, on the parent's
/// stack, once it has counted the theft. `is_first`: c.state was 0 before.
void begin_later_children(worker& w, children& c, bool is_first) noexcept;
/// A child has thrown while it owned its parent: all that is forked from now on is later. By that child. `is_first`: as above.
void begin_children_after_failure(worker& w, children& c, bool is_first) noexcept;
/// A child that lost its parent has ended, and is about to arrive.
void end_lost_child(worker& w, children const& c) noexcept;
/// All children have ended: the scope's function runs again in the region in which it ran before. By that function.
void end_later_children(worker& w, children& c) noexcept;
/// A scope's join is about to throw `e`. If its children were asked to stop because a child of an outer scope has thrown, and `e` says no
/// more than that, waits for all children of the outer scope, and returns the exception that serial execution would have met first. The
/// outer scope keeps it, too. Outer scope: of the same function, or of one that has called it. By the scope's function.
std::exception_ptr earlier_than(std::exception_ptr e) noexcept;

/// True if a child has thrown that is serially earlier than those in `r`, a region of later children. By one of these.
bool asks_later_children(stop_region const& r) noexcept;

}  // namespace nopal::core
