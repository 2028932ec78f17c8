#pragma once

// The semaphore's protocol. A permit is handed over to who waits, under the lock bit: it is never free while somebody waits that has not
// timed out.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "nopal/core/wait/queued_word.hpp"

namespace nopal::core {

template <class Waits>
class basic_semaphore {
  using words = queued_word<Waits, std::int64_t>;
  using node = typename words::node;
  using timer_entry = typename words::timer_entry;

 public:
  explicit basic_semaphore(std::ptrdiff_t n) noexcept : self_{n * one} {}

  static constexpr std::ptrdiff_t max() noexcept {
    return static_cast<std::ptrdiff_t>(std::numeric_limits<std::int64_t>::max() >> shift);
  }

  /// For who destroys it. relaxed: he has acquired the last permit, or knows of it.
  bool at_rest() const noexcept { return (self_.word.load(std::memory_order_relaxed) & words::flags) == 0; }

  /// The fast way; `slowly` calls try_acquire_slowly.
  template <class Slowly>
  bool try_acquire(Slowly slowly) noexcept {
    std::int64_t w = self_.word.load(std::memory_order_relaxed);
    while (w >= one) {
      if ((w & words::flags) != 0) return slowly();
      // acquire: pairs with release
      if (self_.word.compare_exchange_weak(w, w - one, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// False: release_slowly must.
  bool release_if_quiet(std::ptrdiff_t n) noexcept {
    std::int64_t w = self_.word.load(std::memory_order_relaxed);
    // release: pairs with acquire. The last touch, as is that of release_slowly: who acquires may destroy it.
    while ((w & words::flags) == 0 && n >= 0 && n <= max() - (w >> shift)) {
      if (self_.word.compare_exchange_weak(w, w + n * one, std::memory_order_release, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  /// False: there are none.
  bool try_acquire_slowly() noexcept {
    std::int64_t const permits = self_.lock();
    self_.unlock(permits > 0 ? permits - one : 0);
    return permits > 0;
  }
  void acquire_slowly() noexcept {
    node me;
    Waits::await_wake(me, {"a semaphore", this}, [&]() noexcept { return enqueue(me, nullptr); });
  }
  bool acquire_until(typename Waits::time_point limit) {
    node me;
    bool const in_time = Waits::await_wake_until(me, {"a semaphore, with a time limit", this}, limit,
                                           [&](timer_entry* t) noexcept { return enqueue(me, t); });
    if (!in_time) self_.forget(me);
    return in_time;
  }

  /// `n` is not negative. False: there are `before`, and would be too many.
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

  /// Before it is destroyed: waits for whoever is at the queue. Is it empty?
  bool deserted() noexcept {
    self_.lock();
    return self_.queue.empty();
  }

 private:
  // On another stack than the one that waits. False: it has its permit.
  bool enqueue(node& me, timer_entry* limit) noexcept {
    std::int64_t const permits = self_.lock();
    if (permits == 0) {
      self_.wait_behind(me, limit, 0);
      return true;
    }
    self_.unlock(permits - one);
    return false;
  }

  // The state: how many permits. Where there are some and a queue too, all in it have timed out.
  static constexpr int shift = 2;
  static constexpr std::int64_t one = 1 << shift;
  static_assert(one > words::flags);
  words self_;
};

}  // namespace nopal::core
