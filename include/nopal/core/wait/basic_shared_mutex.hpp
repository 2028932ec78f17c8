#pragma once

// The shared mutex's protocol: one writer, or any number of readers. Under the lock bit it is handed over to the first waiters: to one
// writer, or to all readers before the next writer. A thread that finds waiters waits behind them: so neither side starves. Any thread
// locks and unlocks. README.md, "A shared mutex". Next: ../../shared_mutex.hpp.

#include <cstdint>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/wait/queued_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
