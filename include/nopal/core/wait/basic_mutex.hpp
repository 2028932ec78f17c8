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

#include <cstdint>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/queued_word.hpp"
#include "nopal/core/wait/waits_for.hpp"

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

}  // namespace nopal::core
