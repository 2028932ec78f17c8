#pragma once

// A native stack that waits. It is entered in the queue of what it waits for, and is in the waiting frame, so that no queue needs memory of
// its own. Any thread may resume it, once. Next: waiter.hpp and event.hpp, whose queues hold it; src/wait/waiting_stack.cpp, how a worker
// gets it.

#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class stack;
class top_wait;

/// The waiter sets the fields before it leaves its stack. Its waker calls resume() once; afterwards it may be gone.
struct waiting_stack : resumable {
  stack* what = nullptr;
  pool_state* pool = nullptr;
  unsigned worker = 0;         ///< the index of the worker that left the stack
  top_wait* on_top = nullptr;  ///< the stack was not left: its thread waits on top of it
  bool for_job = false;        ///< waits for a job that it began: what the job has forked descends from the stack's frames

  /// Not null: this is no stack, but a watch of one that waits for several things (watch.hpp), and resume calls this instead.
  void (*told)(waiting_stack& me) noexcept = nullptr;

  /// Lets some worker of the pool resume the stack: the caller's, if it works for that pool, has memory for its ring and the pool steals;
  /// else a chosen one, or if nothing is stolen the one that left it. A thief may be first. Any thread.
  void resume() noexcept;
  /// Puts the stack behind what waits for the worker that left it. A thief may be first. By that worker.
  void resume_later() noexcept;
  /// Puts the stack before what waits for the worker that left it, which has room in its ring. Otherwise as resume_later.
  void resume_first() noexcept;
};

}  // namespace nopal::core
