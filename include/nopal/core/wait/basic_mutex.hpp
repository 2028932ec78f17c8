#pragma once

// The mutex's protocol. Any thread locks; the owner unlocks. Next: ../../mutex.hpp.
//
// Which thread gets it. Unlocking frees the mutex and wakes the first waiter; then the first thread to lock it has it. A hand-over to the
// waiter would make every other thread wait until that waiter's stack is switched to, and a queue that has formed once would never
// dissolve: 1 to 2 µs for a lock and unlock by 100 fibers on 2 CPUs, where this takes 20 to 90 ns. No waiter starves: one that was woken
// and finds an owner waits at the front again, and its third wake-up hands the mutex over to it. At most one woken waiter is on its way to
// the mutex: until it arrives, an unlock wakes no other.
//
// No waiter is forgotten. A waiter enters the queue under the lock bit, after it has seen an owner. From then on that owner's
// compare-exchange fails, since the word is no longer the owner alone, so the owner unlocks at the queue. There it wakes the first waiter,
// unless one is on its way. The one on its way either takes the mutex, and will unlock at the queue, or finds an owner, which will.

#include <cstddef>
#include <cstdint>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/queued_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Waits>
class basic_mutex {
  using words = queued_word<Waits, std::uintptr_t>;

 public:
  constexpr basic_mutex() noexcept : self_{0} {}

  /// For the destroyer: it is neither locked nor waited for. relaxed: the destroyer was the last owner, or learned of the last unlock by
  /// other means, which order the two.
  bool at_rest() const noexcept { return self_.word.load(std::memory_order_relaxed) == 0; }
  /// True if there is a waiter, in the queue or on its way. relaxed: for messages and reports.
  bool is_awaited() const noexcept { return (self_.word.load(std::memory_order_relaxed) & (words::waited_for | on_its_way)) != 0; }
  /// The owner in `word`, a report's copy of the mutex's first word. The queue is behind that word.
  static std::uintptr_t owner_in(std::uintptr_t word) noexcept { return word & owners; }
  /// The owner, or 0. relaxed: exact for the caller only, which has written it if it is the owner.
  std::uintptr_t owner() const noexcept { return self_.word.load(std::memory_order_relaxed) & owners; }

  /// The fast way to lock it for `who`. False: the word was not 0 but `seen`.
  bool lock_if_free(std::uintptr_t who, std::uintptr_t& seen) noexcept {
    seen = 0;
    // acquire: pairs with unlock_if_alone and queued_word::unlock, for what the last owner wrote. relaxed where it fails: only `seen` is
    // used.
    return self_.word.compare_exchange_strong(seen, who, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// The fast way to unlock it. False: `who` does not own it, or a thread waits for it.
  bool unlock_if_alone(std::uintptr_t who) noexcept {
    // release: pairs with lock_if_free and lock_bit, for the next owner. It is the last access: the next owner may unlock and destroy the
    // mutex.
    return self_.word.compare_exchange_strong(who, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  static bool is_owned(std::uintptr_t seen) noexcept { return (seen & owners) != 0; }

  /// Locks it at the queue. For a caller whose lock_if_free has seen no owner, but a flag. False: it is owned.
  bool try_lock_slowly(std::uintptr_t who) noexcept { return take(waiter{who}); }
  /// Locks it; waits while it is owned. The owner may be the caller itself, which is about to unlock it on another stack: a condition
  /// variable's waiter that was notified at once.
  void lock_in_turn(std::uintptr_t who) noexcept {
    waiter me{who};
    for (int k = 0; k < Waits::mutex_spins; ++k) {
      if (owner() == 0 && take(me)) return;
      Waits::sync::relax();
    }
    for (;;) {
      Waits::await_wake(me, {"a mutex", this, wait_kind::mutex}, [&]() noexcept { return enqueue(me); });
      if (me.owns) return;
      ++me.woken;
      if (take(me)) return;
    }
  }
  struct waiter : words::node {
    std::uintptr_t who;                                      ///< the owner, once it has the mutex
    unsigned woken = 0;                                      ///< how often it was woken without a hand-over
    typename Waits::sync::template plain<bool> owns{false};  ///< the mutex was handed over to it
    explicit waiter(std::uintptr_t w) noexcept : who{w} {}
  };

  /// Enters `me`, whose wake-up tells a task. False: the mutex was free, and `me` owns it.
  bool watch(waiter& me) noexcept { return enqueue(me); }
  /// `me` was woken. True: it owns the mutex. False: it must enter once more.
  bool owns_after_wake_up(waiter& me) noexcept {
    if (me.owns) return true;
    ++me.woken;
    return take(me);
  }
  /// Its owner is `to` from now on. By its owner.
  void hand_to(std::uintptr_t to) noexcept {
    std::uintptr_t const w = self_.lock();
    self_.unlock((w & on_its_way) | to);
  }
  /// Unlocks it. By its owner `who`, or on another stack right after the owner's was left. Ends the program if `who` is not its owner.
  void unlock(std::uintptr_t who) noexcept {
    if (!unlock_if_alone(who)) unlock_slowly(who);
  }
  /// Unlocks it at the queue. Wakes the first waiter or hands the mutex over to it, unless one is on its way. O(1).
  void unlock_slowly(std::uintptr_t who) noexcept {
    if (std::uintptr_t const has = owner(); has != who) {
      die(has == 0 ? "a mutex was unlocked that is not locked; unlock once for each lock, or let a std::lock_guard do it"
                   : "a mutex was unlocked by another fiber, task or thread than the one that has locked it, or by a task after a "
                     "co_await; unlock it where it was locked, before any co_await, or use a nopal::semaphore{1}");
    }
    std::uintptr_t after = self_.lock() & on_its_way;
    waiter* next = nullptr;
    if (after == 0) next = static_cast<waiter*>(self_.queue.pop_front());
    if (next != nullptr) {
      next->owns = next->woken == Waits::mutex_wakeups_in_vain;
      after = next->owns ? next->who : on_its_way;
    }
    self_.unlock(after);
    if (next != nullptr) next->wake();
  }

 private:
  friend struct debug_layout;

  /// The state `w`, with `me` as its owner. A waiter that was woken is no longer on its way.
  static std::uintptr_t owned_by(waiter const& me, std::uintptr_t w) noexcept { return (me.woken != 0 ? w & ~on_its_way : w) | me.who; }

  // Locks it, if it is free. True: `me` owns it.
  bool take(waiter const& me) noexcept {
    std::uintptr_t const w = self_.lock();
    bool const free = (w & owners) == 0;
    self_.unlock(free ? owned_by(me, w) : w);
    return free;
  }

  // Enters the queue, on another stack than the one that waits. False: the mutex was free, and `me` owns it.
  bool enqueue(waiter& me) noexcept {
    std::uintptr_t const w = self_.lock();
    if ((w & owners) == 0) {
      me.owns = true;
      self_.unlock(owned_by(me, w));
      return false;
    }
    if (me.woken == 0) {
      self_.wait_behind(me, nullptr, w);
    } else {
      self_.queue.push_front(me);
      self_.unlock(w & ~on_its_way);  // from here on `me` may be gone
    }
    return true;
  }

  // | owner, or 0 | on_its_way 4 | waited_for 2 | locked 1 |
  /// A waiter was woken, and has not taken the lock bit yet: no second one need be woken.
  static constexpr std::uintptr_t on_its_way = words::flags + 1;
  static constexpr std::uintptr_t owners = ~(on_its_way | words::flags);
  words self_;
};

// The condition variable's protocol. A waiter enters the queue, and then unlocks the mutex, both on another stack than the one that waits.
// So a thread that locks the mutex afterwards finds the waiter in the queue. A notifier that has not locked it may have notified before the
// wait. The owner of the mutex waits; any thread notifies. Next: ../../condition_variable.hpp.

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
  /// only of those that were notified. False: a thread still waits. The lock bit is clear afterwards, since in exit others use the
  /// condition variable still.
  template <class Yield>
  bool wait_for_expired(Yield yield) noexcept {
    for (;;) {
      self_.lock();
      bool const awaited = self_.queue.awaited();
      bool const gone = self_.queue.empty();
      self_.unlock(0);
      if (awaited || gone) return gone;
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

// The shared mutex's protocol: one writer, or any number of readers. Under the lock bit it is handed over to the first waiters: to one
// writer, or to all readers before the next writer. A thread that finds waiters waits behind them: so neither side starves. Any thread
// locks and unlocks. README.md, "A shared mutex". Next: ../../shared_mutex.hpp.

template <class Waits>
class basic_shared_mutex {
  using words = queued_word<Waits, std::uint64_t>;
  using timer_entry = typename words::timer_entry;

 public:
  /// How a caller wants to lock it.
  enum class share : bool { read, write };

  constexpr basic_shared_mutex() noexcept : self_{0} {}

  /// For the destroyer: it is neither locked nor waited for. relaxed: the destroyer was the last owner, or learned of the last unlock by
  /// other means, which order the two.
  bool at_rest() const noexcept { return self_.word.load(std::memory_order_relaxed) == 0; }
  /// True if there is a waiter. relaxed: for messages.
  bool is_awaited() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::waited_for) != 0; }

  /// The fast way to lock it. False: an owner excludes the caller, or a thread waits for it.
  bool lock_if_free(share s) noexcept {
    std::uint64_t w = self_.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((w & words::flags) == 0 && may_have(w, s)) {
      // acquire: pairs with unlock_if_alone and queued_word::unlock, for what the owners before wrote. A reader that unlocks changes the
      // word by a read-modify-write, so a writer acquires them all. relaxed where it fails: it is tried again.
      if (self_.word.compare_exchange_weak(w, w + taken_by(s), std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Locks it at the queue, if it is free for `s` and no thread waits for it. After lock_if_free has failed.
  bool try_lock_slowly(share s) noexcept {
    // relaxed: a caller that sees an owner has the answer, and the flags that it reads are tested again under the lock bit
    if (!may_have(self_.word.load(std::memory_order_relaxed), s)) return false;
    std::uint64_t const w = self_.lock();
    bool const free = may_have(w, s) && !self_.queue.awaited();
    self_.unlock(free ? w + taken_by(s) : w);
    return free;
  }
  /// Locks it; waits until all that came before have unlocked it.
  void lock_slowly(share s) noexcept {
    waiter me{s};
    Waits::await_wake(me, {what(s), this}, [&]() noexcept { return enqueue(me, nullptr); });
  }
  /// As lock_slowly, until `deadline`. False: that expired first. Throws std::bad_alloc, std::system_error.
  bool lock_until(share s, typename Waits::time_point deadline) {
    waiter me{s};
    bool const in_time =
        Waits::await_wake_until(me, {what_timed(s), this}, deadline, [&](timer_entry* t) noexcept { return enqueue(me, t); });
    if (!in_time) forget(me);
    return in_time;
  }

  /// The fast way to unlock it. False: a thread waits for it, or it is not locked that way.
  bool unlock_if_alone(share s) noexcept {
    std::uint64_t w = self_.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((w & words::flags) == 0 && is_had(w, s)) {
      // release: pairs with lock_if_free and lock_bit, for the next owner. It is the last access: the next owner may unlock and destroy the
      // mutex.
      if (self_.word.compare_exchange_weak(w, w - taken_by(s), std::memory_order_release, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Unlocks it at the queue, and hands it over to the first waiters, in O(waiters woken). Ends the program if it is not locked that way.
  void unlock_slowly(share s) noexcept {
    std::uint64_t const w = self_.lock();
    if (!is_had(w, s)) {
      die(s == share::write
              ? "a shared_mutex was unlocked that no writer has locked; call unlock_shared after lock_shared, and unlock once "
                "for each lock"
              : "a shared_mutex was unlocked by unlock_shared, and no reader has locked it; call unlock after lock, and "
                "unlock_shared once for each lock_shared");
    }
    hand_over(w - taken_by(s));
  }

 private:
  struct waiter : words::node {
    share wants;
    explicit waiter(share s) noexcept : wants{s} {}
  };

  static char const* what(share s) noexcept { return s == share::write ? "a shared_mutex, to write" : "a shared_mutex, to read"; }
  static char const* what_timed(share s) noexcept {
    return s == share::write ? "a shared_mutex, to write, with a time limit" : "a shared_mutex, to read, with a time limit";
  }
  static bool may_have(std::uint64_t w, share s) noexcept { return s == share::write ? (w & ~words::flags) == 0 : (w & writer) == 0; }
  static bool is_had(std::uint64_t w, share s) noexcept { return s == share::write ? (w & writer) != 0 : w >= reader; }
  static constexpr std::uint64_t taken_by(share s) noexcept { return s == share::write ? writer : reader; }

  // Releases the lock bit, with the state `w`, and hands what is free in that state over to waiters.
  void hand_over(std::uint64_t w) noexcept {
    using node = typename words::node;
    claimed_waiters<Waits> claimed;
    self_.queue.claim_while([&](node const& n) noexcept { return may_have(w, static_cast<waiter const&>(n).wants); },
                            [&](node const& n) noexcept { w += taken_by(static_cast<waiter const&>(n).wants); }, claimed);
    self_.unlock(w);
    claimed.wake();
  }
  // Removes `me`, which has timed out. Waiters behind it may have waited for it only. By `me`.
  void forget(waiter& me) noexcept {
    std::uint64_t const w = self_.lock();
    self_.queue.remove(me);
    hand_over(w);
  }
  // Enters the queue, on another stack than the one that waits. False: it was free and not waited for, and `me` has it.
  bool enqueue(waiter& me, timer_entry* entry) noexcept {
    std::uint64_t const w = self_.lock();
    if (may_have(w, me.wants) && !self_.queue.awaited()) {
      self_.unlock(w + taken_by(me.wants));
      return false;
    }
    self_.wait_behind(me, entry, w);
    return true;
  }

  // | readers: 61 bits | writer: value 4 | waited_for: value 2 | locked: value 1 |
  static constexpr std::uint64_t writer = words::flags + 1;
  static constexpr std::uint64_t reader = 2 * writer;
  words self_;
};

}  // namespace nopal::core
