#pragma once

// The counter's protocol. One word holds the value and a lock bit for the list of waiters. Another word holds what the counter's owner has
// added; only the owner writes it. README.md, "A counter", says why a thread that has waited for the last done may destroy it. Any thread
// counts and waits. Next: ../../counter.hpp; completion.hpp, a future's.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/queued_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Waits>
class basic_counter {
  using sync = typename Waits::sync;
  using timer_entry = typename Waits::timer_entry;
  template <class T>
  using plain = typename sync::template plain<T>;

 public:
  /// `owner`: the worker that may add without a read-modify-write; one thread runs it at a time. Null: no worker may.
  explicit basic_counter(std::int64_t n, void const* owner = nullptr) noexcept : word_{n * one}, owner_{owner} {}

  /// For the destroyer: no thread waits, holds the lock bit, or has yet to count it down. The value is 0 or negative. acquire: pairs with
  /// the last done.
  bool at_rest() const noexcept {
    std::int64_t const w = word_.load(std::memory_order_acquire);
    return (w & flags) == 0 && value(w) <= 0;
  }
  /// A value that the counter has had during the call.
  std::int64_t load() const noexcept {
    for (;;) {
      std::int64_t const w = word_.load(std::memory_order_acquire);  // acquire: pairs with every done
      // acquire: pairs with the owner's store in add, so that the second load of the word sees every done that came before that add
      std::int64_t const added = added_.load(std::memory_order_acquire);
      // relaxed: that acquire orders it
      if (word_.load(std::memory_order_relaxed) == w) return (w >> shift) + added;
    }
  }

  /// Counts up. `here`: the calling worker, perhaps the owner; or null.
  void add(std::int64_t n, void const* here = nullptr) noexcept {
    if (here != nullptr && here == owner_) {
      // relaxed: only the owner writes it. release: pairs with load, which then counts no add without the dones that the owner knew of.
      added_.store(added_.load(std::memory_order_relaxed) + n, std::memory_order_release);
    } else {
      // relaxed: no waiter waits for a larger value, and a thread that must not miss this add learns of it by a done that came later
      word_.fetch_add(n * one, std::memory_order_relaxed);
    }
  }

  /// Counts down by one read-modify-write, if that can wake no waiter. False: the caller must call done_slowly.
  bool done_if_quiet(std::int64_t n) noexcept {
    std::int64_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // release: pairs with reached, load, at_rest and lock. A waiter sees what came before every done, since the changes of the word, all
    // read-modify-writes, are one release sequence. A compare-exchange and no subtraction: if a waiter may have to be woken, the last
    // access of the counter must be the unlock, after which that waiter may destroy it. relaxed where it fails: it is tried again.
    while ((w & (waited_for | locked)) == 0 || ((w & (wanted_early | locked)) == 0 && value(w) > n)) {
      if (word_.compare_exchange_weak(w, w - n * one, std::memory_order_release, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Counts down under the lock bit and wakes the waiters that are due, in O(waiters). Other threads may count at the same time; none waits
  /// or wakes. The list keeps the waiters that want less, in reverse order.
  void done_slowly(std::int64_t n) noexcept {
    lock();
    // release: pairs with load, which does not wait for the lock; lock has acquired the dones of others
    std::int64_t const now = value(word_.fetch_sub(n * one, std::memory_order_release)) - n;
    claimed_waiters<Waits> due;
    waiter* rest = nullptr;
    for (waiter* w = waiters_; w != nullptr;) {
      waiter* const next = following(*w);
      if (w->target < now) {
        w->next_waiter = rest;
        rest = w;
      } else if (w->claim()) {
        if (w->copies_to != nullptr) *w->copies_to = look_at_exception();
        due.add(*w);
      }
      w = next;
    }
    waiters_ = rest;
    unlock();
    due.wake();
  }

  /// Waits until the value is at most `target`. `what` is for reports, which add a counter's value.
  void wait(std::int64_t target, char const* what = "a counter", wait_kind kind = wait_kind::counter) noexcept {
    if (reached(target)) return;
    waiter me;
    me.target = target;
    Waits::await_wake(me, {what, this, kind, target}, [&]() noexcept { return enqueue(me, nullptr); });
  }
  /// As wait, until `deadline`. False: that expired first. Throws std::bad_alloc, std::system_error.
  bool wait_until(std::int64_t target, typename Waits::time_point deadline, char const* what = "a counter, with a time limit",
                  wait_kind kind = wait_kind::counter) {
    if (reached(target)) return true;
    waiter me;
    me.target = target;
    bool const in_time =
        Waits::await_wake_until(me, {what, this, kind, target}, deadline, [&](timer_entry* t) noexcept { return enqueue(me, t); });
    if (in_time) return true;
    forget(me);
    return reached(target);
  }

  struct waiter : Waits::waiter {
    std::int64_t target = 0;
    /// Null; or where a done that wakes the waiter copies the exception, which the counter keeps. The waiter itself may find the counter
    /// gone.
    std::exception_ptr* copies_to = nullptr;
  };
  /// Enters `w`, whose wake-up tells a waiter for several things. False: the value is at most w.target.
  bool watch(waiter& w) noexcept { return enqueue(w, nullptr); }
  /// Takes `w` out, unless a done wakes it. False: one has, or is about to.
  bool unwatch(waiter& w) noexcept {
    if (!w.claim()) return false;
    forget(w);
    return true;
  }

  /// Keeps the exception of a fiber that will count the counter down, if it is the first. Before that fiber's done.
  void failed(std::exception_ptr e) noexcept {  // NOLINT(performance-unnecessary-value-param): it is moved
    lock();
    if (std::exception_ptr const known = error_; known == nullptr) error_ = std::move(e);
    word_.fetch_or(thrown, std::memory_order_relaxed);  // relaxed: the lock orders it, and the fiber's done releases it
    unlock();
  }
  /// True if there is an exception to take. By a thread that has waited.
  bool has_exception() const noexcept {
    // relaxed: that thread has acquired a done that came after failed
    return (word_.load(std::memory_order_relaxed) & thrown) != 0;
  }
  /// Takes the exception; null if there is none. By a thread that has waited; one of several gets it.
  std::exception_ptr take_exception() noexcept {
    if (!has_exception()) return nullptr;
    lock();
    std::exception_ptr const e = error_;
    error_ = nullptr;
    is_known_ = false;
    word_.fetch_and(~thrown, std::memory_order_relaxed);  // relaxed: the lock orders it
    unlock();
    return e;
  }

  /// A copy of the exception for one that does not take it; null if there is none. From then on the exception may be destroyed with the
  /// counter. By a thread that keeps the counter alive, and knows that its value is reached.
  std::exception_ptr copy_exception() noexcept {
    if (!has_exception()) return nullptr;
    lock();
    std::exception_ptr const e = look_at_exception();
    unlock();
    return e;
  }

  /// For the destroyer: waits for a thread that still holds the lock bit, and keeps it. Only the next five and load may be called
  /// afterwards.
  void close() noexcept { lock(); }
  /// Clears the lock bit again: in exit others use the counter still.
  void reopen() noexcept { unlock(); }
  /// As reopen, without the exception.
  void reopen_without_exception() noexcept {
    error_ = nullptr;
    word_.fetch_and(~thrown, std::memory_order_relaxed);  // relaxed: the lock orders it
    unlock();
  }
  bool is_awaited() const noexcept { return waiters_ != nullptr; }
  std::exception_ptr unclaimed() const noexcept { return error_; }
  /// True if the exception has been copied.
  bool is_known() const noexcept { return is_known_; }

  /// A report's copy of a counter's first two words.
  struct copied {
    std::int64_t word, added;
    std::int64_t value() const noexcept { return (word >> shift) + added; }
    bool has_exception() const noexcept { return (word & thrown) != 0; }
  };

 private:
  friend struct debug_layout;

  static waiter* following(waiter& w) noexcept {
    typename waiter::node* const next = w.next_waiter;
    return static_cast<waiter*>(next);
  }

  // The value that goes with `word`. It includes every add that came before a done which `word` counts and the caller has acquired, and
  // every add that came before the caller's own operation. relaxed: that order comes from `word`. It may miss an add that nothing orders
  // before the caller.
  std::int64_t value(std::int64_t word) const noexcept { return (word >> shift) + added_.load(std::memory_order_relaxed); }

  void lock() noexcept { lock_bit<sync>(word_, locked); }
  // release: pairs with lock_bit, for the list, and with reached and at_rest, for the counter's destroyer. It is the last access of the
  // counter.
  void unlock() noexcept {
    word_.fetch_and(waiters_ == nullptr ? ~(locked | waited_for | wanted_early) : ~locked, std::memory_order_release);
  }

  // Under the lock.
  std::exception_ptr look_at_exception() noexcept {
    std::exception_ptr const e = error_;
    if (e != nullptr) is_known_ = true;
    return e;
  }

  // True if the value is at most `target` and the lock bit is free: then the caller may destroy the counter. While another thread holds the
  // bit this waits for the unlock.
  bool reached(std::int64_t target) noexcept {
    for (int round = 0;; ++round) {
      std::int64_t const w = word_.load(std::memory_order_acquire);  // acquire: pairs with every done, and with unlock
      if (value(w) > target) return false;
      if ((w & locked) == 0) return true;
      sync::give_way(round);
    }
  }

  // Enters the list, on another stack than the one that waits, which may be resumed as soon as the lock bit is free. False: the value is
  // reached.
  bool enqueue(waiter& w, timer_entry* entry) noexcept {
    lock();  // no done comes between the test and the entry: one without the lock bit finds it set, and fails
    bool const waits = value(word_.load(std::memory_order_relaxed)) > w.target;  // relaxed: lock has acquired every done that it counts
    if (waits) {
      w.next_waiter = waiters_;
      waiters_ = &w;
      word_.fetch_or(w.target > 0 ? waited_for | wanted_early : waited_for, std::memory_order_relaxed);  // relaxed: unlock releases it
      if (entry != nullptr) Waits::start(*entry);  // the timer may wake `w` at once; `w` then needs the lock bit to remove itself
    }
    unlock();
    return waits;
  }

  // Removes `w`, which has timed out, in O(waiters). By `w`. A done that could not claim `w` has removed it already.
  void forget(waiter& w) noexcept {
    lock();
    waiter* kept = nullptr;
    for (waiter* x = waiters_; x != nullptr;) {
      waiter* const next = following(*x);
      if (x != &w) {
        x->next_waiter = kept;
        kept = x;
      }
      x = next;
    }
    waiters_ = kept;
    unlock();
  }

  static constexpr std::int64_t locked = 1;        ///< a thread uses the list, for a few instructions
  static constexpr std::int64_t waited_for = 2;    ///< the list is not empty
  static constexpr std::int64_t thrown = 4;        ///< error_ is set
  static constexpr std::int64_t wanted_early = 8;  ///< a waiter in the list may wait for a value above 0
  static constexpr std::int64_t flags = 15;
  static constexpr int shift = 4;
  static constexpr std::int64_t one = 1 << shift;

  // | value but for added_: 60 bits, signed | wanted_early: value 8 | thrown: value 4 | waited_for: value 2 | locked: value 1 |
  typename sync::template atomic<std::int64_t> word_;
  typename sync::template atomic<std::int64_t> added_{0};  // the owner's: a read-modify-write would be most of a spawn's cost
  void const* owner_;
  // Guarded by the lock bit.
  plain<waiter*> waiters_{nullptr};
  plain<std::exception_ptr> error_;
  plain<bool> is_known_{false};  // it was copied
};

// The barrier's protocol. One word holds the phase, and a lock bit for the queue of waiters and for the numbers beside the word. A phase
// ends when all that were expected have arrived, and the last of them has run the completion function. Any thread arrives and waits.
// README.md, "A barrier", says which thread may destroy it. Next: ../../barrier.hpp.

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
  /// For the destroyer: waits for a thread that is at the queue. True: the queue is empty. The lock bit is clear afterwards, since in exit
  /// others use the barrier still.
  bool deserted() noexcept {
    std::uint64_t const phase = self_.lock();
    bool const empty = self_.queue.empty();
    self_.unlock(phase);
    return empty;
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
