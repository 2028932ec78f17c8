#pragma once

// How anything waits: the stack of a worker is left, a thread that works for no pool sleeps. Next: ../stack/suspension.hpp; timer.hpp.

#include <chrono>
#include <type_traits>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/waiter.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

class timer_entry;
using time_point = std::chrono::steady_clock::time_point;

/// Waits until somebody wakes `me`. `publish(with)` makes it known: from then on it may be woken. It says no, and `me` is known to nobody,
/// if there is nothing to wait for. `why` is for reports. The caller may be resumed by another thread, if it works for a pool.
void await_wake(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept;
template <class Publish>
void await_wake(sleeper& me, waits_for why, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&>);
  await_wake(me, why, [](void* with) noexcept { return (*static_cast<Publish*>(with))(); }, &publish);
}

/// As await_wake, but no longer than until `limit`. False: that came first, and `me` is still wherever `publish` has put it. `publish` may get
/// a timer entry, which it starts under the lock that `me` will need on its way out: the timer may wake it at once. Throws std::bad_alloc,
/// std::system_error, before anything has happened.
bool await_wake_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer_entry* limit) noexcept, void* with);
template <class Publish>
bool await_wake_until(waiter& me, waits_for why, time_point limit, Publish publish) {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, timer_entry*>);
  return await_wake_until(
      me, why, limit, [](void* with, timer_entry* t) noexcept { return (*static_cast<Publish*>(with))(t); }, &publish);
}

/// await_wake, by a thread that sleeps.
template <class Sleeper, class Publish>
void thread_awaits_wake(Sleeper& me, Publish publish) noexcept {
  typename Sleeper::event woken;
  me.thread = &woken;
  if (publish()) woken.wait();
}

/// await_wake_until, by a thread that sleeps. Nobody but itself claims it for the time limit.
template <class Waiter, class Clock, class Duration, class Publish>
bool thread_awaits_wake_until(Waiter& me, std::chrono::time_point<Clock, Duration> limit, Publish publish) noexcept {
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
struct NOPAL_API stack_waits {
  using sync = std_sync;
  using waiter = core::waiter;
  using timer_entry = core::timer_entry;
  using time_point = core::time_point;
  static constexpr unsigned mutex_wakeups_in_vain = tuning::mutex_wakeups_in_vain;
  static constexpr int mutex_polls = tuning::mutex_polls;

  /// Starts the time limit of a waiter: see timer_entry::start.
  static void start(timer_entry& e) noexcept;
  template <class Publish>
  static void await_wake(waiter& me, waits_for why, Publish publish) noexcept {
    core::await_wake(me, why, publish);
  }
  template <class Publish>
  static bool await_wake_until(waiter& me, waits_for why, time_point limit, Publish publish) {
    return core::await_wake_until(me, why, limit, publish);
  }
};

}  // namespace nopal::core
