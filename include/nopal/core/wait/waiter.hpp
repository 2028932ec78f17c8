#pragma once

// How anything waits: the stack of a worker is left, a foreign thread sleeps. Whoever makes the awaited thing true wakes the waiter,
// which lies in the waiting frame, so that no queue of waiters needs memory of its own. Next: wait_queue.hpp, counter_word.hpp.

#include <atomic>
#include <chrono>
#include <type_traits>

#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/scheduler.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/core/scheduler/worker.hpp"

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

/// For timer.hpp.
struct waiter : basic_waiter<std_sync, sleeper> {};

/// Waits until somebody wakes `me`. `publish(with)` makes it known: from then on it may be woken. It says no, and `me` is known to nobody,
/// if there is nothing to wait for. `why` is for reports. The caller may go on on another thread, if it works for a pool.
void park(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept;
template <class Publish>
void park(sleeper& me, waits_for why, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&>);
  park(me, why, [](void* with) noexcept { return (*static_cast<Publish*>(with))(); }, &publish);
}

/// As park, but no longer than until `limit`. False: that came first, and `me` is still wherever `publish` has put it. `publish` may get
/// a ticket, which it starts under the lock that `me` will need on its way out: the timer may wake it at once. Throws std::bad_alloc,
/// std::system_error, before anything has happened.
bool park_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer::ticket* limit) noexcept, void* with);
template <class Publish>
bool park_until(waiter& me, waits_for why, time_point limit, Publish publish) {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, timer::ticket*>);
  return park_until(
      me, why, limit, [](void* with, timer::ticket* t) noexcept { return (*static_cast<Publish*>(with))(t); }, &publish);
}

/// park, by a thread that sleeps.
template <class Sleeper, class Publish>
void park_thread(Sleeper& me, Publish publish) noexcept {
  typename Sleeper::event woken;
  me.thread = &woken;
  if (publish()) woken.wait();
}

/// park_until, by a thread that sleeps. Nobody but itself claims it for the time limit.
template <class Waiter, class Clock, class Duration, class Publish>
bool park_thread_until(Waiter& me, std::chrono::time_point<Clock, Duration> limit, Publish publish) noexcept {
  typename Waiter::event woken;
  me.thread = &woken;
  me.timed = true;
  if (!publish()) return true;
  for (auto now = Clock::now(); now < limit; now = Clock::now()) {
    if (woken.wait_for(std::chrono::nanoseconds{limit - now}.count())) return true;
  }
  if (me.claim()) return false;
  woken.wait();  // it comes just now
  return true;
}

/// How the words of the library wait, and with what: a model checker puts its own in.
struct stack_waits {
  using sync = std_sync;
  using waiter = core::waiter;
  using ticket = timer::ticket;
  using time_point = core::time_point;
  /// Of who waits for a mutex.
  struct patience {
    static constexpr unsigned most_wakeups = 2;  ///< in vain
    static constexpr int most_looks = 10;        ///< before it parks: less than parking takes
  };

  template <class Publish>
  static void park(waiter& me, waits_for why, Publish publish) noexcept {
    core::park(me, why, publish);
  }
  template <class Publish>
  static bool park_until(waiter& me, waits_for why, time_point limit, Publish publish) {
    return core::park_until(me, why, limit, publish);
  }
};

}  // namespace nopal::core
