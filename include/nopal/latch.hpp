#pragma once

// latch: a number that is counted down to 0 once, and waited for. It is a counter without exceptions. Next: core/wait/basic_counter.hpp,
// the protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

/// A latch as std::latch, for fibers, tasks, ordinary functions and threads: any of them counts it down and waits for it. A waiter sees
/// what came before each count. It never goes up again.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps. A wait throws nopal::stopped if the caller is asked to stop (stop.hpp): its counts stay counted.
///
/// A thread that has waited for the last count may destroy it. Destroying it while a thread waits for it ends the program with a message.
///
///     nopal::latch ready{workers};
///     ready.count_down();       // in each
///     ready.wait();
class NOPAL_API latch {
 public:
  /// A latch that is open after `n` counts; open from the start if that is 0. Throws std::invalid_argument if `n` is negative or more than
  /// max().
  explicit latch(std::ptrdiff_t n);
  latch(latch const&) = delete;
  latch& operator=(latch const&) = delete;
  ~latch() {
    if (!word_.at_rest()) [[unlikely]]
      check_destroyed();
  }

  /// The most that it counts.
  static constexpr std::ptrdiff_t max() noexcept { return std::ptrdiff_t{1} << 58; }

  /// Counts down by `n`, and wakes all waiters when it reaches 0, in O(waiters). Never waits. Throws std::invalid_argument if `n` is
  /// negative or more than is left to count; then nothing has changed.
  void count_down(std::ptrdiff_t n = 1) {
    core::in_order();
    // A caller whose `n` the latch still has to count cannot find less than that.
    if (n < 0 || n > word_.load()) [[unlikely]]
      reject(n);
    if (!word_.done_if_quiet(n)) word_.done_slowly(n);
  }
  /// True if it is open. Never waits. To destroy it after that, the caller must know that each count_down has returned; after wait() each
  /// has.
  bool try_wait() const noexcept {
    core::in_order();
    return word_.load() <= 0;
  }
  /// Waits until it is open. O(1).
  void wait();
  /// Counts down by `n`, and waits until it is open. Throws as both.
  void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }
  /// Waits until it is open, or until `deadline`. False: that passed first. Also throws std::bad_alloc, or std::system_error if the thread
  /// that serves time limits cannot be started.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  /// As above, by any clock.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> deadline) {
    return core::by_clock(deadline, [this](std::chrono::steady_clock::time_point t) { return wait_until(t); });
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> timeout) {
    return wait_until(core::deadline_after(timeout));
  }

 private:
  [[noreturn]] NOPAL_COLD void reject(std::ptrdiff_t n) const;
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_counter<core::timed_stack_waits> word_;
};

}  // namespace nopal
