#pragma once

// The barrier's protocol. One word holds the phase, and a lock bit for the queue of waiters and for the numbers beside the word. A phase
// ends when all that were expected have arrived, and the last of them has run the completion function. Any thread arrives and waits.
// README.md, "A barrier", says which thread may destroy it. Next: ../../barrier.hpp.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "nopal/core/wait/queued_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Waits>
class basic_barrier {
  using words = queued_word<Waits, std::uint64_t>;
  using node = typename words::node;
  using timer_entry = typename words::timer_entry;
  template <class T>
  using plain = typename Waits::sync::template plain<T>;

 public:
  explicit basic_barrier(std::ptrdiff_t expected) noexcept : self_{0}, pending_{expected}, expected_{expected} {}

  /// For the destroyer: no thread waits, or is at the queue. relaxed: the destroyer has waited for the last phase, or learned of its end by
  /// other means, which order the two.
  bool at_rest() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::flags) == 0; }
  /// For the destroyer, which uses nothing else afterwards: waits for a thread that is at the queue, and keeps the lock bit. True: the
  /// queue is empty.
  bool deserted() noexcept {
    self_.lock();
    return self_.queue.empty();
  }

  struct arrived {
    std::uint64_t phase;     ///< the phase whose end the caller waits for
    std::ptrdiff_t pending;  ///< how many had yet to arrive
  };
  /// Counts `n` of those that were expected in this phase, and expects `dropped` less from the next phase on. If `pending` was `n`, the
  /// caller is the last, and must call complete. If it was less, nothing has happened. The lock bit's acquire and release pass what all
  /// others did before to the last.
  arrived arrive(std::ptrdiff_t n, std::ptrdiff_t dropped) noexcept {
    std::uint64_t const phase = self_.lock();
    std::ptrdiff_t const before = pending_;
    if (n <= before) {
      pending_ = before - n;
      expected_ = expected_ - dropped;
    }
    self_.unlock(phase);
    return {phase, before};
  }
  /// Ends the phase, and wakes all that wait for it, in O(waiters). By the last that arrived. No other thread changes the phase at that
  /// time.
  void complete() noexcept {
    claimed_waiters<Waits> claimed;
    std::uint64_t const phase = self_.lock();
    pending_ = static_cast<std::ptrdiff_t>(expected_);
    self_.queue.claim(std::numeric_limits<std::ptrdiff_t>::max(), claimed);
    self_.unlock(phase + one);
    claimed.wake();
  }

  /// True if the phase has ended. acquire: pairs with the unlock in complete, for what all did before they arrived and what the completion
  /// did.
  bool has_ended(std::uint64_t phase) const noexcept { return (self_.word.load(std::memory_order_acquire) & ~words::flags) != phase; }
  /// Waits until the phase has ended.
  void wait(std::uint64_t phase) noexcept {
    if (has_ended(phase)) return;
    node me;
    Waits::await_wake(me, {"a barrier", this}, [&]() noexcept { return enqueue(me, nullptr, phase); });
  }
  /// As wait, until `deadline`. False: that expired first. Throws std::bad_alloc, std::system_error.
  bool wait_until(std::uint64_t phase, typename Waits::time_point deadline, char const* what) {
    if (has_ended(phase)) return true;
    node me;
    bool const in_time =
        Waits::await_wake_until(me, {what, this}, deadline, [&](timer_entry* t) noexcept { return enqueue(me, t, phase); });
    if (!in_time) self_.forget(me);
    return in_time || has_ended(phase);
  }

 private:
  // Enters the queue, on another stack than the one that waits. False: the phase has ended.
  bool enqueue(node& me, timer_entry* entry, std::uint64_t phase) noexcept {
    std::uint64_t const now = self_.lock();
    if (now == phase) {
      self_.wait_behind(me, entry, now);
      return true;
    }
    self_.unlock(now);
    return false;
  }

  // | phase: 62 bits, wraps | waited_for: value 2 | locked: value 1 |
  static constexpr std::uint64_t one = 4;
  words self_;
  // Guarded by the lock bit.
  plain<std::ptrdiff_t> pending_;   ///< how many have not arrived in this phase
  plain<std::ptrdiff_t> expected_;  ///< how many arrive in the next
};

}  // namespace nopal::core
