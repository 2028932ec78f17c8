#pragma once

// semaphore: a number of permits, which anyone gives and anyone takes.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal {

/// As std::counting_semaphore. Whoever waits for a permit parks: the fiber, task or function leaves its native stack, a thread that works
/// for no pool sleeps. Permits go to those that wait first come, first served. Each operation costs one read-modify-write while nobody
/// waits; any thread may use it; who acquires sees what came before the release. It may be destroyed by whoever has acquired the last
/// permit; while somebody waits for it, that ends the program with a message.
class NOPAL_API semaphore {
 public:
  /// Throws std::invalid_argument if `n` is negative or more than max().
  explicit semaphore(std::ptrdiff_t n);
  semaphore(semaphore const&) = delete;
  semaphore& operator=(semaphore const&) = delete;
  ~semaphore() {
    if (!word_.at_rest()) [[unlikely]] check_destroyed();
  }

  static constexpr std::ptrdiff_t max() noexcept { return core::basic_semaphore<core::stack_waits>::max(); }

  /// Waits until it has a permit.
  void acquire() {
    if (!try_acquire()) acquire_slowly();
  }
  /// False: there is none. Never waits.
  bool try_acquire() noexcept {
    return word_.try_acquire([this]() noexcept { return try_acquire_slowly(); });
  }
  /// False: the time came first. Throws std::bad_alloc, std::system_error where there is no memory or thread for time limits.
  bool try_acquire_until(core::time_point limit);
  template <class Clock, class Duration>
  bool try_acquire_until(std::chrono::time_point<Clock, Duration> limit) {
    return core::by_clock(limit, [this](core::time_point t) { return try_acquire_until(t); });
  }
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> timeout) {
    return try_acquire_until(core::deadline_after(timeout));
  }

  /// Gives `n` permits: to those that wait, and what is left to those that come. Throws std::invalid_argument if `n` is negative,
  /// std::overflow_error if there would be more than max(); then nothing has changed.
  void release(std::ptrdiff_t n = 1) {
    if (!word_.release_if_quiet(n)) release_slowly(n);
  }

 private:
  NOPAL_COLD void acquire_slowly() noexcept;
  NOPAL_COLD bool try_acquire_slowly() noexcept;
  NOPAL_COLD void release_slowly(std::ptrdiff_t n);
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_semaphore<core::stack_waits> word_;
};

}  // namespace nopal
