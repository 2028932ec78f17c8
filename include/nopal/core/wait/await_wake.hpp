#pragma once

// How anything waits: a worker suspends the stack that runs, and a thread that works for no pool sleeps. By the waiter itself. Next:
// await_wake_until.hpp, the wait with a time limit; ../stack/suspension.hpp, which suspends the stack. This header includes no clock,
// because <nopal/mutex.hpp> needs none: <chrono> adds a third to what a program compiles for a mutex (39,000 lines become 52,600).

#include <type_traits>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/waiter.hpp"
#include "nopal/core/wait/waits_for.hpp"

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

}  // namespace nopal::core
