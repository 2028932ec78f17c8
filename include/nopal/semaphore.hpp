#pragma once

// semaphore: a number of permits, which anyone gives and anyone takes.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "nopal/core/config.hpp"
#include "nopal/core/timer.hpp"
#include "nopal/core/wait_queue.hpp"

namespace nopal {

/// As std::counting_semaphore. Whoever waits for a permit parks: the fiber, task or function leaves its native stack, a thread that works
/// for no pool sleeps. Permits go to those that wait first come, first served. Each operation costs one read-modify-write while nobody
/// waits; any thread may use it; who acquires sees what came before the release. It may be destroyed by whoever has acquired the last
/// permit; while somebody waits for it, that ends the program with a message.
class semaphore {
 public:
  /// Throws std::invalid_argument if `n` is negative or more than max().
  explicit semaphore(std::ptrdiff_t n);
  semaphore(semaphore const&) = delete;
  semaphore& operator=(semaphore const&) = delete;
  ~semaphore() {
    // acquire: pairs with the last release
    if ((word_.load(std::memory_order_acquire) & flags) != 0) [[unlikely]] check_destroyed();
  }

  static constexpr std::ptrdiff_t max() noexcept {
    return static_cast<std::ptrdiff_t>(std::numeric_limits<std::int64_t>::max() >> shift);
  }

  /// Waits until it has a permit.
  void acquire() {
    if (!try_acquire()) acquire_slowly();
  }
  /// False: there is none. Never waits.
  bool try_acquire() noexcept {
    std::int64_t w = word_.load(std::memory_order_relaxed);
    while (w >= one) {
      if ((w & flags) != 0) return try_acquire_slowly();
      // acquire: pairs with release
      if (word_.compare_exchange_weak(w, w - one, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// False: the time came first. Throws std::bad_alloc, std::system_error where there is no memory or thread for time limits.
  bool try_acquire_until(core::time_point limit);
  template <class Clock, class Duration>
  bool try_acquire_until(std::chrono::time_point<Clock, Duration> limit) {
    do {
      if (try_acquire_until(core::limit_after(limit - Clock::now()))) return true;
    } while (Clock::now() < limit);
    return false;
  }
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> timeout) {
    return try_acquire_until(core::limit_after(timeout));
  }

  /// Gives `n` permits: to those that wait, and what is left to those that come. Throws std::invalid_argument if `n` is negative,
  /// std::overflow_error if there would be more than max(); then nothing has changed.
  void release(std::ptrdiff_t n = 1) {
    std::int64_t w = word_.load(std::memory_order_relaxed);
    // release: pairs with acquire. The last touch, as is that of release_slowly: who acquires may destroy it.
    while ((w & flags) == 0 && n >= 0 && n <= max() - (w >> shift)) {
      if (word_.compare_exchange_weak(w, w + n * one, std::memory_order_release, std::memory_order_relaxed)) return;
    }
    release_slowly(n);
  }

 private:
  // | permits | waited_for 2 | locked 1 |. With a flag set, it is changed under the lock bit only.
  static constexpr std::int64_t locked = 1;      ///< somebody is at the queue: short
  static constexpr std::int64_t waited_for = 2;  ///< the queue is not empty. Where there are permits too, all in it have timed out.
  static constexpr std::int64_t flags = 3;
  static constexpr int shift = 2;
  static constexpr std::int64_t one = 1 << shift;

  NOPAL_COLD void acquire_slowly() noexcept;
  NOPAL_COLD bool try_acquire_slowly() noexcept;
  NOPAL_COLD void release_slowly(std::ptrdiff_t n);
  NOPAL_COLD void check_destroyed() noexcept;
  bool enqueue(core::queued_waiter& me, core::timer::ticket* limit) noexcept;
  void unlock(std::int64_t permits) noexcept;

  std::atomic<std::int64_t> word_;
  core::wait_queue waiters_;
};

}  // namespace nopal
