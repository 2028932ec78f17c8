#pragma once

// The region of a stolen branch. The branch is serially later than the first half of its fork. If that half throws, the branch is asked to
// stop, since its result will be dropped. Nothing earlier is asked: README.md, "Exceptions". Next: ../stack/native_fork.hpp, where one
// begins.

#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct children;
class stop_region;

/// While it lives, the strand that made it runs in a region of its own, inside of the region before, and `join` asks it to stop. In a frame
/// of that strand; it may end on another worker. Without memory there is no such region, and the branch is not asked.
class NOPAL_API later_region {
 public:
  later_region(worker& w, join_word const& join) noexcept;
  later_region(later_region const&) = delete;
  later_region& operator=(later_region const&) = delete;
  ~later_region();

 private:
  stop_region* const mine_;
};

// What a scope forks after a child that throws is serially later, and is asked to stop. What was forked before that child is not asked; nor
// is the scope's function, since an exception of its own would hide the first one. README.md, "Exceptions". Called by the slow paths of a
// scope's forks and by its join, by the worker that runs the parent or the child. Next: ../stack/scope_child.hpp.

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
