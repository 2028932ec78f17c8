#pragma once

// A waiter: a stack that was left, or a thread that sleeps. It lies in the waiting frame, so that no queue of waiters needs memory of its own.
// Whoever makes the awaited thing true wakes it. Next: await_wake.hpp, how one waits; wait_queue.hpp and basic_counter.hpp, where it lies
// meanwhile.

#include "nopal/core/base/sync.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/waiting_stack.hpp"

namespace nopal::core {

/// A stack that was left, or a thread that sleeps.
template <class Sync, class Stack, class Event>
struct basic_sleeper : Stack {
  using event = Event;
  /// Instead of a stack: the caller works for no pool, or has no memory for another stack.
  typename Sync::template plain<event*> thread{nullptr};
  void wake() noexcept {
    if (event* const e = thread; e != nullptr) return e->set();
    Stack::resume();
  }
};
using sleeper = basic_sleeper<std_sync, waiting_stack, event>;

/// A waiter among others. wake(), of `Sleeper`, is the last look at it: by any thread, once it is claimed, or without a lock that the
/// waiter takes on its way out.
template <class Sync, class Sleeper>
struct basic_waiter : Sleeper {
  using node = basic_waiter;
  /// In the queue of what it waits for, under that queue's lock.
  typename Sync::template plain<basic_waiter*> next_waiter{nullptr};

  // Only for a wait with a time limit: two may want to wake it, and the one that claims it does.
  typename Sync::template plain<bool> timed{false};
  typename Sync::template atomic<bool> claimed{false};

  /// True: the caller wakes it. relaxed: it decides who does, no more. The wake-up releases what came before it, and who has lost leaves
  /// the waiter alone from when it gives back the lock under which it has tried.
  bool claim() noexcept { return !timed || !claimed.exchange(true, std::memory_order_relaxed); }
  /// Has somebody claimed it? relaxed: as in claim.
  bool expired() const noexcept { return timed && claimed.load(std::memory_order_relaxed); }
};

/// The library's own.
struct waiter : basic_waiter<std_sync, sleeper> {};

}  // namespace nopal::core
