#pragma once

// A waiter: a suspended stack, or a sleeping thread. It is in the waiting frame, so that no queue of waiters needs memory of its own. The
// thread that makes the awaited condition true wakes it. Next: await_wake.hpp, how one waits; queued_word.hpp and basic_counter.hpp, the
// queues.

#include "nopal/core/base/sync.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What can be woken: a suspended stack, or a sleeping thread.
template <class Sync, class Stack, class Event>
struct basic_sleeper : Stack {
  using event = Event;
  /// Set if a thread sleeps and no stack is suspended: the caller works for no pool, or has no memory for another stack.
  typename Sync::template plain<event*> thread{nullptr};
  /// Wakes it; afterwards it may be gone. Any thread, once.
  void wake() noexcept {
    if (event* const e = thread; e != nullptr) return e->set();
    Stack::resume();
  }
};
using sleeper = basic_sleeper<std_sync, waiting_stack, event>;

/// One waiter among others. With a time limit both the queue's side and the timer may want to wake it: the one that claims it does. Its
/// waker's last access is wake(). A side that has lost the claim accesses it for the last time while it holds a lock that the waiter takes
/// before its frame ends.
template <class Sync, class Sleeper>
struct basic_waiter : Sleeper {
  using node = basic_waiter;
  /// The next in a list of waiters, under the lock of the queue that it waits in; then in the private list of the thread that has claimed
  /// it.
  typename Sync::template plain<basic_waiter*> next_waiter{nullptr};

  typename Sync::template plain<bool> timed{false};     ///< waits with a time limit
  typename Sync::template atomic<bool> claimed{false};  ///< used only if timed

  /// True: the caller must wake it. relaxed: the exchange only decides which thread wakes it. The wake-up releases what the waker did
  /// before, and a caller that has lost does not access the waiter after it has released the lock under which it tried.
  bool claim() noexcept { return !timed || !claimed.exchange(true, std::memory_order_relaxed); }
  /// True if a waiter in a queue has timed out. relaxed: a thread that must know that it is gone sees it remove itself, under the queue's
  /// lock.
  bool expired() const noexcept { return timed && claimed.load(std::memory_order_relaxed); }
};

/// The waiter that ships.
struct waiter : basic_waiter<std_sync, sleeper> {};

}  // namespace nopal::core
