#pragma once

// The condition variable's protocol. The order of a wait: into the queue, out of the mutex, both on another stack than the one that waits.
// Who has locked the mutex after the waiter sees it in the queue. Who has not may have notified before.

#include <cstddef>
#include <cstdint>

#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/queued_word.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

template <class Waits>
class basic_condition {
  using words = queued_word<Waits, std::uint32_t>;
  using node = typename words::node;
  using timer_entry = typename words::timer_entry;
  using mutex = basic_mutex<Waits>;

 public:
  constexpr basic_condition() noexcept : self_{0} {}

  /// For the one that destroys it. False: somebody waits, or has timed out and is still in the queue. acquire: pairs with the unlock by which
  /// the last that timed out has left the queue; the destroyer has no other order with it.
  bool at_rest() const noexcept { return self_.word.load(std::memory_order_acquire) == 0; }
  /// relaxed: who has locked the mutex after a waiter has left it has acquired the flag with it.
  bool has_waiters() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::waited_for) != 0; }

  /// `who` owns the mutex, and will again.
  void wait(mutex& m, std::uintptr_t who) noexcept { wait(m, who, {"a condition_variable", this}); }
  /// The same, as a part of what `why` says.
  void wait(mutex& m, std::uintptr_t who, waits_for const& why) noexcept {
    node me;
    Waits::await_wake(me, why, [&]() noexcept { return enqueue(me, nullptr, m, who); });
    m.lock_in_turn(who);  // perhaps before it was unlocked: not lock, which would find it ours
  }
  /// False: the time came first.
  bool wait_until(mutex& m, std::uintptr_t who, typename Waits::time_point limit) {
    node me;
    bool const notified = Waits::await_wake_until(me, {"a condition_variable, with a time limit", this}, limit,
                                            [&](timer_entry* t) noexcept { return enqueue(me, t, m, who); });
    if (!notified) self_.forget(me);
    m.lock_in_turn(who);  // as in wait
    return notified;
  }

  void notify(std::ptrdiff_t most) noexcept {
    claimed_waiters<Waits> claimed;
    self_.lock();
    self_.queue.claim(most, claimed);
    self_.unlock(0);
    claimed.wake();
  }

  /// Before it is destroyed: waits for those that have timed out, which may not know that everybody was notified. False: others wait.
  template <class Yield>
  bool outlast_expired(Yield yield) noexcept {
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
  // Once it is in the queue `me` may be woken and, but for the mutex that it needs first, be gone, and *this with it: what is used
  // afterwards are copies.
  bool enqueue(node& me, timer_entry* limit, mutex& m, std::uintptr_t who) noexcept {
    self_.lock();
    self_.wait_behind(me, limit, 0);
    m.unlock(who);
    return true;
  }

  words self_;  // there is no state
};

}  // namespace nopal::core
