#pragma once

// What a scope forks after a child that throws is serially later, and is asked to stop. Nothing that was forked before it is, nor the
// scope's function: what that throws would hide the exception. README.md, "Exceptions". Called by the cold ends of a scope's forks and by
// its join, by the worker that runs the parent or the child. Next: ../stack/scope_fork.hpp.

#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stop/region_id.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stop_region;

/// The parent was stolen: what it forks from now on is later than all children that were forked before. By the thief, on the parent's
/// stack, once it has counted the theft. `is_first`: c.state was 0 before.
void begin_later_children(worker& w, children& c, bool is_first) noexcept;
/// A child has thrown while it owned its parent: all that is forked from now on is later. By that child. `is_first`: as above.
void begin_children_after_failure(worker& w, children& c, bool is_first) noexcept;
/// A child that lost its parent has ended, and is about to arrive.
void end_lost_child(worker& w, children const& c) noexcept;
/// All children have ended: the scope's function runs in the region again in which it did before. By that function.
void end_later_children(worker& w, children& c) noexcept;
/// A scope's join is about to throw `e`. Where its children were asked since a child of a scope around, of the same function or one that
/// has called it, has thrown, and `e` says no more than that: waits for all children of that scope, and returns what serial execution would
/// have met first. That scope keeps it, too. By the scope's function.
std::exception_ptr earlier_than(std::exception_ptr e) noexcept;

/// Has a child thrown that is serially earlier than those in `r`, which is a region of later children? By one of these.
bool asks_later_children(stop_region const& r) noexcept;

}  // namespace nopal::core
