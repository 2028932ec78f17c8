#pragma once

// The semaphore's protocol. Under the lock bit a released permit is handed over to the first waiter: no permit is free while there is a
// waiter that has not timed out. Any thread acquires, any thread releases. Next: ../../semaphore.hpp.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "nopal/core/wait/queued_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Waits>
class basic_semaphore {
  using words = queued_word<Waits, std::int64_t>;
  using timer_entry = typename words::timer_entry;

 public:
  using node = typename words::node;

  explicit basic_semaphore(std::ptrdiff_t n) noexcept : self_{n * one} {}

  static constexpr std::ptrdiff_t max() noexcept { return static_cast<std::ptrdiff_t>(std::numeric_limits<std::int64_t>::max() >> shift); }

  /// For the destroyer: no thread waits, or is at the queue. relaxed: the destroyer has acquired the last permit, or learned of the last
  /// acquire by other means, which order the two.
  bool at_rest() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::flags) == 0; }

  /// The fast way to take a permit. `slowly` calls try_acquire_slowly, if a flag is set. False: there is no permit.
  template <class Slowly>
  bool try_acquire(Slowly slowly) noexcept {
    std::int64_t w = self_.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while (w >= one) {
      if ((w & words::flags) != 0) return slowly();
      // acquire: pairs with release_if_quiet and queued_word::unlock, for what the releaser wrote. relaxed where it fails: it is tried
      // again.
      if (self_.word.compare_exchange_weak(w, w - one, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// The fast way to give `n` permits. False: there may be waiters, or `n` is out of range; nothing has changed.
  bool release_if_quiet(std::ptrdiff_t n) noexcept {
    std::int64_t w = self_.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // release: pairs with try_acquire and lock_bit, for the acquirer. It is the last access: the acquirer may destroy the semaphore.
    while ((w & words::flags) == 0 && n >= 0 && n <= max() - (w >> shift)) {
      if (self_.word.compare_exchange_weak(w, w + n * one, std::memory_order_release, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  /// Takes a permit under the lock bit. False: there is none.
  bool try_acquire_slowly() noexcept {
    std::int64_t const permits = self_.lock();
    self_.unlock(permits > 0 ? permits - one : 0);
    return permits > 0;
  }
  /// Takes a permit; waits until there is one. `what` is for reports.
  void acquire_slowly(char const* what = "a semaphore") noexcept {
    node me;
    Waits::await_wake(me, {what, this}, [&]() noexcept { return enqueue(me, nullptr); });
  }
  /// As acquire_slowly, until `deadline`. False: that expired first. Throws std::bad_alloc, std::system_error.
  bool acquire_until(typename Waits::time_point deadline, char const* what = "a semaphore, with a time limit") {
    node me;
    bool const in_time = Waits::await_wake_until(me, {what, this}, deadline, [&](timer_entry* t) noexcept { return enqueue(me, t); });
    if (!in_time) self_.forget(me);
    return in_time;
  }

  /// Enters `me`, whose wake-up tells a task that it has a permit. False: there was one, and `me` has it.
  bool watch(node& me) noexcept { return enqueue(me, nullptr); }

  /// Gives `n` permits, `n` not negative: to the first waiters, in O(waiters), and the rest to the word. False: nothing has changed, since
  /// `n` and the `before` permits that are free would be more than max().
  bool release_slowly(std::ptrdiff_t n, std::ptrdiff_t& before) noexcept {
    before = self_.lock() >> shift;
    if (n > max() - before) {
      self_.unlock(before * one);
      return false;
    }
    claimed_waiters<Waits> claimed;
    std::ptrdiff_t const given = self_.queue.claim(before + n, claimed);
    self_.unlock((before + n - given) * one);
    claimed.wake();
    return true;
  }

  /// For the destroyer: waits for a thread that is at the queue. True: the queue is empty. The lock bit is clear afterwards, since in exit
  /// others use the semaphore still.
  bool deserted() noexcept {
    std::int64_t const permits = self_.lock();
    bool const empty = self_.queue.empty();
    self_.unlock(permits);
    return empty;
  }

 private:
  friend struct debug_layout;

  // Enters the queue, on another stack than the one that waits. False: there was a permit, and `me` has it.
  bool enqueue(node& me, timer_entry* entry) noexcept {
    std::int64_t const permits = self_.lock();
    if (permits == 0) {
      self_.wait_behind(me, entry, 0);
      return true;
    }
    self_.unlock(permits - one);
    return false;
  }

  // | permits: 62 bits | waited_for: value 2 | locked: value 1 |. If there are permits and a queue, all waiters in it have timed out.
  static constexpr int shift = 2;
  static constexpr std::int64_t one = 1 << shift;
  static_assert(one > words::flags);
  words self_;
};

}  // namespace nopal::core
