#pragma once

// How anything waits: a worker suspends the stack that runs, and a thread that works for no pool sleeps. By the waiter itself. Below: the
// wait with a time limit. Next: ../stack/suspension.hpp, which suspends the stack. This header includes no scheduler, because
// <nopal/mutex.hpp> needs none.

#include <chrono>
#include <type_traits>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

class timer_entry;

/// Waits until another thread wakes `me`. `publish(with)` makes `me` known to the threads that may wake it; from then on they may. It
/// returns false if there is nothing to wait for; then no thread knows `me`. On a worker it runs on another stack than the caller's, unless
/// that stays. `why` is for reports. Another thread may resume a caller on a worker, unless its stack stays.
void await_wake(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept;
template <class Publish>
void await_wake(sleeper& me, waits_for why, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&>);
  await_wake(me, why, [](void* with) noexcept { return (*static_cast<Publish*>(with))(); }, &publish);
}

/// await_wake on a thread that works for no pool: the thread sleeps.
template <class Sleeper, class Publish>
void thread_awaits_wake(Sleeper& me, Publish publish) noexcept {
  typename Sleeper::event woken;
  me.thread = &woken;
  if (publish()) woken.wait();
}

/// The policy `Waits` of all waits without a time limit: how they wait, and with what. A model checker puts its own in.
struct NOPAL_API stack_waits {
  using sync = std_sync;
  using waiter = core::waiter;
  using timer_entry = core::timer_entry;
  static constexpr unsigned mutex_wakeups_in_vain = tuning::mutex_wakeups_in_vain;
  static constexpr int mutex_spins = tuning::mutex_spins;

  /// Starts the time limit of a waiter: timer_entry::start, which this header does not know.
  static void start(timer_entry& e) noexcept;
  template <class Publish>
  static void await_wake(waiter& me, waits_for why, Publish publish) noexcept {
    core::await_wake(me, why, publish);
  }
};

// Waiting with a time limit. By the waiter itself. Next: deadline.hpp, how the deadline is made; timer.hpp, which wakes the waiter when it
// expires.

/// As await_wake, but ends at `deadline`, or at a request to stop in the caller's region. False: one of these was first, and `me` is still
/// in the queue that `publish` has put it in. `publish(with, entry)` starts the timer entry, unless it is null, under the lock that `me`
/// needs before its frame may end: the timer may wake `me` at once. Throws std::bad_alloc, or std::system_error if the timer's thread
/// cannot be started; nothing has happened then.
bool await_wake_until(waiter& me, waits_for why, time_point deadline, bool (*publish)(void* with, timer_entry* entry) noexcept, void* with);
template <class Publish>
bool await_wake_until(waiter& me, waits_for why, time_point deadline, Publish publish) {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, timer_entry*>);
  return await_wake_until(
      me, why, deadline, [](void* with, timer_entry* t) noexcept { return (*static_cast<Publish*>(with))(t); }, &publish);
}

/// Waits until then, also after a request to stop; by a worker. False: there is no memory, or no thread for the timer, and it has not
/// waited.
bool sleep_through(time_point until, waits_for why) noexcept;

/// await_wake_until on a thread that works for no pool: the thread sleeps, and claims itself when the deadline expires. It needs no timer
/// entry.
template <class Waiter, class Clock, class Duration, class Publish>
bool thread_awaits_wake_until(Waiter& me, std::chrono::time_point<Clock, Duration> deadline, Publish publish) noexcept {
  typename Waiter::event woken;
  me.thread = &woken;
  me.timed = true;
  if (!publish()) return true;
  for (auto now = Clock::now(); now < deadline; now = Clock::now()) {
    if (woken.wait_for(std::chrono::nanoseconds{deadline - now}.count())) return true;
  }
  if (me.claim()) return false;
  woken.wait();  // another thread has claimed `me` and is about to set the event
  return true;
}

/// The policy `Waits` of all waits that may have a time limit.
struct NOPAL_API timed_stack_waits : stack_waits {
  using time_point = core::time_point;

  template <class Publish>
  static bool await_wake_until(waiter& me, waits_for why, time_point deadline, Publish publish) {
    return core::await_wake_until(me, why, deadline, publish);
  }
};

// Letting others run first. Next: event.hpp, whose resume_later resumes it.

/// Suspends the calling stack, and first lets what waits for its worker now run: usually all of it, but now and then a worker first takes
/// what came from outside, or a thief takes the stack. False: the caller works for no pool, and nothing has happened. True at once if
/// nothing waits for the worker, or there is no memory for another stack.
bool yield_stack() noexcept;

}  // namespace nopal::core
