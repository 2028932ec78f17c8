#pragma once

// The counter's protocol: one word, the value and a lock for those that wait, and another for what the counter's owner has added, which only
// he writes. README.md, "Waiting", says why the counter may be destroyed by whoever has waited for its last done. Next: ../counter.hpp.

#include <cstdint>
#include <exception>
#include <utility>

#include "nopal/core/wait/lock_bit.hpp"
#include "nopal/core/wait/wait_queue.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

template <class Waits>
class basic_counter {
  using sync = typename Waits::sync;
  using timer_entry = typename Waits::timer_entry;
  template <class T>
  using plain = typename sync::template plain<T>;

 public:
  /// What `owner` stands for never runs twice at once: a worker. Null: it has none.
  explicit basic_counter(std::int64_t n, void const* owner = nullptr) noexcept : word_{n * one}, owner_{owner} {}

  /// Does nobody wait, nor still count it down? Besides 0, a negative value is fine. acquire: pairs with the last done.
  bool at_rest() const noexcept {
    std::int64_t const w = word_.load(std::memory_order_acquire);
    return (w & flags) == 0 && value(w) <= 0;
  }
  /// A value that it has had meanwhile.
  std::int64_t load() const noexcept {
    for (;;) {
      std::int64_t const w = word_.load(std::memory_order_acquire);  // acquire: pairs with done
      // acquire: pairs with add; whoever has counted down before that is seen by the second look
      std::int64_t const added = added_.load(std::memory_order_acquire);
      if (word_.load(std::memory_order_relaxed) == w) return (w >> shift) + added;
    }
  }

  /// `here`: who calls, maybe the owner. Relaxed: nobody waits for more, and who must not miss it learns of it by a done that came later; but
  /// release where load reads it: it counts no add without the dones that the owner knew of.
  void add(std::int64_t n, void const* here = nullptr) noexcept {
    if (here != nullptr && here == owner_) {
      added_.store(added_.load(std::memory_order_relaxed) + n, std::memory_order_release);
    } else {
      word_.fetch_add(n * one, std::memory_order_relaxed);
    }
  }

  /// One read-modify-write where this can wake nobody. False: done_slowly must.
  bool done_if_quiet(std::int64_t n) noexcept {
    std::int64_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange looks again
    // release: pairs with reached, load and lock: whoever waits sees what came before every done, since the changes of one word are one
    // release sequence. A compare-exchange, and not a subtraction: where this may wake somebody, the last touch of the counter must be the
    // unlocking, after which a waiter may destroy it.
    while ((w & (waited_for | locked)) == 0 || ((w & (wanted_early | locked)) == 0 && value(w) > n)) {
      if (word_.compare_exchange_weak(w, w - n * one, std::memory_order_release, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void done_slowly(std::int64_t n) noexcept {
    lock();
    // release: as in done_if_quiet; what others have done lock has acquired
    std::int64_t const now = value(word_.fetch_sub(n * one, std::memory_order_release)) - n;
    claimed_waiters<Waits> due;
    waiter* rest = nullptr;
    for (waiter* w = waiters_; w != nullptr;) {
      waiter* const next = following(*w);
      if (w->target < now) {
        w->next_waiter = rest;
        rest = w;
      } else if (w->claim()) {
        due.add(*w);
      }
      w = next;
    }
    waiters_ = rest;
    unlock();
    due.wake();
  }

  /// Parks until the value is at most `target`. `what` it is, for reports, which tell the value of a counter.
  void wait(std::int64_t target, char const* what = "a counter", wait_kind kind = wait_kind::counter) noexcept {
    if (reached(target)) return;
    waiter me;
    me.target = target;
    Waits::await_wake(me, {what, this, kind, target}, [&]() noexcept { return enqueue(me, nullptr); });
  }
  /// False: the time came first.
  bool wait_until(std::int64_t target, typename Waits::time_point limit, char const* what = "a counter, with a time limit",
                  wait_kind kind = wait_kind::counter) {
    if (reached(target)) return true;
    waiter me;
    me.target = target;
    bool const in_time = Waits::await_wake_until(me, {what, this, kind, target}, limit,
                                           [&](timer_entry* t) noexcept { return enqueue(me, t); });
    if (in_time) return true;
    forget(me);
    return reached(target);
  }

  /// Keeps the first exception of those that count it down, each before it does.
  void failed(std::exception_ptr e) noexcept {
    lock();
    if (std::exception_ptr const known = error_; known == nullptr) error_ = std::move(e);
    word_.fetch_or(thrown, std::memory_order_relaxed);  // relaxed: under the lock, and before the done that is seen
    unlock();
  }
  /// Is there one for take_exception?
  bool has_exception() const noexcept {
    // relaxed: who has waited has acquired a done that came after failed
    return (word_.load(std::memory_order_relaxed) & thrown) != 0;
  }
  /// Whoever has waited takes it, or null.
  std::exception_ptr take_exception() noexcept {
    if (!has_exception()) return nullptr;
    lock();
    std::exception_ptr const e = error_;
    error_ = nullptr;
    word_.fetch_and(~thrown, std::memory_order_relaxed);  // relaxed: under the lock
    unlock();
    return e;
  }

  /// Before it is destroyed: waits for a done that is about to leave. Nobody may use it any more, but for the next two.
  void close() noexcept { lock(); }
  bool is_awaited() const noexcept { return waiters_ != nullptr; }
  std::exception_ptr unclaimed() const noexcept { return error_; }

  /// What a report finds in a copy of a counter's first two words.
  struct copied {
    std::int64_t word, added;
    std::int64_t value() const noexcept { return (word >> shift) + added; }
    bool has_exception() const noexcept { return (word & thrown) != 0; }
  };

 private:
  struct waiter : Waits::waiter {
    std::int64_t target = 0;
  };
  static waiter* following(waiter& w) noexcept {
    typename waiter::node* const next = w.next_waiter;
    return static_cast<waiter*>(next);
  }

  // The value, as far as the caller knows it: no add is missed that came before a done in `word`, if that was acquired, or before the caller's
  // own doing. relaxed: that order is all that is needed, and what is missed makes the value too low only for who need not know of it.
  std::int64_t value(std::int64_t word) const noexcept { return (word >> shift) + added_.load(std::memory_order_relaxed); }

  void lock() noexcept { lock_bit<sync>(word_, locked); }
  // release: the waiters, for the next who locks. The last touch of the counter.
  void unlock() noexcept {
    word_.fetch_and(waiters_ == nullptr ? ~(locked | waited_for | wanted_early) : ~locked, std::memory_order_release);
  }

  // A value that is there while somebody holds the lock counts only once he is gone: the counter may be destroyed when we say yes.
  bool reached(std::int64_t target) noexcept {
    for (;;) {
      std::int64_t const w = word_.load(std::memory_order_acquire);  // acquire: pairs with done
      if (value(w) > target) return false;
      if ((w & locked) == 0) return true;
      sync::yield();
    }
  }

  // On another stack than the one that waits, which may go on as soon as the lock is free.
  bool enqueue(waiter& w, timer_entry* limit) noexcept {
    lock();  // no done comes between the look and the entry in the list: those that do not lock find the word changed
    bool const waits = value(word_.load(std::memory_order_relaxed)) > w.target;  // relaxed: lock has acquired every done that counts
    if (waits) {
      w.next_waiter = waiters_;
      waiters_ = &w;
      word_.fetch_or(w.target > 0 ? waited_for | wanted_early : waited_for, std::memory_order_relaxed);  // relaxed: under the lock
      if (limit != nullptr) Waits::start(*limit);  // woken at once, the waiter still needs the lock on its way out
    }
    unlock();
    return waits;
  }

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

  static constexpr std::int64_t locked = 1;      ///< somebody is at the waiters: short
  static constexpr std::int64_t waited_for = 2;  ///< there are waiters
  static constexpr std::int64_t thrown = 4;      ///< error_ is set
  static constexpr std::int64_t wanted_early = 8;  ///< some of them may wait for more than 0
  static constexpr std::int64_t flags = 15;
  static constexpr int shift = 4;
  static constexpr std::int64_t one = 1 << shift;

  // | value but for added_, signed, 60 bits | wanted_early 8 | thrown 4 | waited_for 2 | locked 1 |
  typename sync::template atomic<std::int64_t> word_;
  typename sync::template atomic<std::int64_t> added_{0};  // the owner's: a read-modify-write would be most of what a spawn costs
  void const* owner_;
  // Under the lock.
  plain<waiter*> waiters_{nullptr};
  plain<std::exception_ptr> error_;
};

}  // namespace nopal::core
