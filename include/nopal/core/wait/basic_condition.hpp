#pragma once

// The condition variable's protocol. A waiter enters the queue, and then unlocks the mutex, both on another stack than the one that waits.
// So a thread that locks the mutex afterwards finds the waiter in the queue. A notifier that has not locked it may have notified before the
// wait. The owner of the mutex waits; any thread notifies. Next: ../../condition_variable.hpp.

#include <cstddef>
#include <cstdint>

#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/queued_word.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Waits, class Mutex = basic_mutex<Waits>>
class basic_condition {
  using words = queued_word<Waits, std::uint32_t>;
  using node = typename words::node;
  using timer_entry = typename words::timer_entry;

 public:
  constexpr basic_condition() noexcept : self_{0} {}

  /// For the destroyer. False: a thread waits, or one that has timed out is still in the queue. acquire: pairs with queued_word::unlock, by
  /// which the last waiter that timed out has left the queue; nothing else orders that waiter before the destroyer.
  bool at_rest() const noexcept { return self_.word.load(std::memory_order_acquire) == 0; }
  /// True if there is a waiter to notify. relaxed: a notifier that has locked the mutex after the waiter unlocked it has acquired the flag
  /// with it.
  bool has_waiters() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::waited_for) != 0; }

  /// Waits for a notification. `who` owns the mutex, and owns it again on return.
  void wait(Mutex& m, std::uintptr_t who) noexcept { wait(m, who, {"a condition_variable", this}); }
  /// As wait(m, who), with the reason `why` for reports.
  void wait(Mutex& m, std::uintptr_t who, waits_for const& why) noexcept {
    node me;
    Waits::await_wake(me, why, [&]() noexcept { return enqueue(me, nullptr, m, who); });
    // Not lock: a waiter that is notified at once may find that it still owns the mutex, which is about to be unlocked.
    m.lock_in_turn(who);
  }
  /// As wait, until `deadline`. False: that expired first. Throws std::bad_alloc, std::system_error, with the mutex locked.
  bool wait_until(Mutex& m, std::uintptr_t who, typename Waits::time_point deadline) {
    return wait_until(m, who, deadline, {"a condition_variable, with a time limit", this});
  }
  /// As above, with the reason `why` for reports.
  bool wait_until(Mutex& m, std::uintptr_t who, typename Waits::time_point deadline, waits_for const& why) {
    node me;
    bool const notified = Waits::await_wake_until(me, why, deadline, [&](timer_entry* t) noexcept { return enqueue(me, t, m, who); });
    if (!notified) self_.forget(me);
    m.lock_in_turn(who);  // as in wait
    return notified;
  }

  /// Enters `me`, whose wake-up tells a waiter for several things, or a task. With the condition's mutex locked. `entry`: its time limit,
  /// or null.
  void watch(node& me, timer_entry* entry = nullptr) noexcept {
    self_.lock();
    self_.wait_behind(me, entry, 0);
  }
  /// Takes out `me`, whose time limit has passed.
  void forget(node& me) noexcept { self_.forget(me); }
  /// Takes `me` out, unless it is notified. False: it was, or is about to be.
  bool unwatch(node& me) noexcept {
    if (!me.claim()) return false;
    self_.forget(me);
    return true;
  }

  /// Wakes the `most` waiters that have waited longest, or all if there are fewer. O(waiters woken).
  void notify(std::ptrdiff_t most) noexcept {
    claimed_waiters<Waits> claimed;
    self_.lock();
    self_.queue.claim(most, claimed);
    self_.unlock(0);
    claimed.wake();
  }

  /// For the destroyer: waits until waiters that have timed out have removed themselves. The program cannot wait for them, since it knows
  /// only of those that were notified. False: a thread still waits; the lock bit is then kept.
  template <class Yield>
  bool wait_for_expired(Yield yield) noexcept {
    for (;;) {
      self_.lock();
      if (self_.queue.awaited()) return false;
      bool const gone = self_.queue.empty();
      self_.unlock(0);
      if (gone) return true;
      yield();
    }
  }

 private:
  // Enters the queue and unlocks the mutex, on another stack than the one that waits. Once `me` is in the queue another thread may wake it;
  // it then waits for the mutex. But *this may be gone already, so only the parameters are used from there on.
  bool enqueue(node& me, timer_entry* entry, Mutex& m, std::uintptr_t who) noexcept {
    self_.lock();
    self_.wait_behind(me, entry, 0);
    m.unlock(who);
    return true;
  }

  words self_;  // the flags only, there is no state
};

}  // namespace nopal::core
