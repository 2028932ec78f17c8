#pragma once

// The children of one scope of an ordinary function. Each runs on a native stack of its own, while the parent's stack is offered to
// thieves. Next on the path: ../../scope.hpp, which forks; scope_fork.hpp, where the parent was stolen.

#include <cstdint>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/deque/kept_exception.hpp"

namespace nopal::core {

class event;
class outside_children;
class stack;

struct children {
  stack* owner;             ///< the stack that the scope's function runs on, whatever the worker; null off a pool
  std::uint64_t state = 0;  ///< | steals of the parent … | thrown 1 |; only whoever runs the parent touches it
  join_word join;

  // Undefined until state is not 0.
  union {
    stack* waiting;             ///< written before the join word announces it
    outside_children* outside;  ///< off a pool, until it joins
    event* done;                ///< then; written as `waiting` is
  };
  int uncaught;  ///< std::uncaught_exceptions() at the first of these forks
  kept_exception first;

  static constexpr std::uint64_t thrown = 1;
  static constexpr std::uint64_t one_steal = 2;
  std::uint64_t steals() const noexcept { return state / one_steal; }

  explicit children(stack* here) noexcept : owner{here} {}
  children(children const&) = delete;
  children& operator=(children const&) = delete;
  ~children() {}  // first: see join_children
};

/// One child on its way to its stack: lies in the parent's frame, and is gone once the parent is offered.
struct child {
  children* of;
  /// Takes the closure out of the parent's frame, offers the parent if `offers`, runs the closure, and takes the parent back. Does not
  /// return if that was stolen.
  using run_function = void (*)(child&, bool offers);
};

}  // namespace nopal::core
