#pragma once

// A native stack that waits for something: it lies in the waiting frame, so that no queue of waiters needs memory of its own. Next: waiter.hpp
// and event.hpp, which it waits for.

#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

struct pool_state;
class stack;

/// Written by the waiter before it leaves its stack; whoever wakes it calls resume() once, and then it may be gone.
struct waiting_stack : resumable {
  stack* what = nullptr;
  pool_state* pool = nullptr;
  unsigned worker = 0;  ///< the one that left it

  /// Lets some worker of the pool resume the stack: the caller, if it works for that pool, or one that is chosen. Any thread.
  void resume() noexcept;
  /// Lets the worker that left it resume the stack, after everything that waits for that worker now.
  void resume_later() noexcept;
};

}  // namespace nopal::core
