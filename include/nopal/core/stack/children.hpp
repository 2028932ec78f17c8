#pragma once

// What a scope of an ordinary function knows of its children. Each child runs on a native stack of its own, while the parent's stack is
// offered to thieves. Stored in ../../scope.hpp, in the parent's frame. Next on the path: scope_child.hpp, which runs a child, also where
// the parent was stolen.

#include <cstdint>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/stack/join_waiter.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

class event;
class outside_children;
class stack;

/// Invariant: a child that lost its parent to a thief touches only `join`, `first` under its lock, and `waiting` or `done` once its arrival
/// has completed the join.
struct children {
  stack* owner;             ///< the stack on which the scope's function runs, on any worker; null off a pool
  std::uint64_t state = 0;  ///< | steals of the parent … | listed 2 | thrown 1 |; touched only by the worker that runs the parent
  stack* stays_on;          ///< while `listed` is set: the owner, since `owner` is null then
  join_word join;           ///< counts the children that lost their parent, and guards `first`

  // Undefined until state is not 0.
  union {
    join_waiter waiting;        ///< the parent at its join
    outside_children* outside;  ///< off a pool, until the join begins
    event* done;                ///< off a pool, from then on: written before the join word announces the children
  };
  region_id around;  ///< the stop region in which the function ran when it forked first
  region_id later;   ///< the region of its later children, while it is the function's; or no_region
  int uncaught;  ///< std::uncaught_exceptions() when `state` left 0: a larger number at the join means that an exception unwinds the scope
  kept_exception first;  ///< what the children have thrown

  static constexpr std::uint64_t thrown = 1;
  static constexpr std::uint64_t listed = 2;  ///< the stack stays, and children of this scope are in a list: outside_children.hpp
  static constexpr std::uint64_t one_steal = 4;
  std::uint64_t steals() const noexcept { return state / one_steal; }

  explicit children(stack* here) noexcept : owner{here} {}
  children(children const&) = delete;
  children& operator=(children const&) = delete;
  ~children() {}  // `first` is emptied by join_children
};

/// One child before it has its own stack. It is in the parent's frame, and may be gone once the parent is offered.
struct child {
  children* of;
  /// Takes the closure out of the parent's frame, offers the parent if `offers`, runs the closure, and takes the parent back. Does not
  /// return if a thief took the parent.
  using run_function = void (*)(child&, bool offers);
};

}  // namespace nopal::core
