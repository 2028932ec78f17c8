#pragma once

// What a waiter waits for, in the words of reports. It is in the waiting frame. A report copies it from there and notices if the waiter was
// resumed during the copy: ../report/README.md. Next: await_wake.hpp, which takes one; src/report/report.cpp, which prints it.

#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// join: the waiter began what it waits for, which ends by itself. mutex, counter: a report can say more of the object than its address.
enum class wait_kind : unsigned char { nothing_more, join, mutex, counter };

struct waits_for {
  char const* what;    ///< completes the sentence "it waits for ..."
  void const* object;  ///< or null
  wait_kind kind = wait_kind::nothing_more;
  std::int64_t target = 0;        ///< the value that a counter is to reach
  std::int64_t limit = no_limit;  ///< the deadline by the steady clock, in nanoseconds
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
};

/// What a report says of a task that waits without a native stack: ../scheduler/pool_state.hpp. In the task's frame.
struct listed_task {
  waits_for const why;
  void const* task = nullptr;      ///< its frame: the owner of the mutexes that it has locked
  void const* function = nullptr;  ///< what resumes it
  std::int64_t since = 0;          ///< by the coarse clock

  listed_task* next = nullptr;  ///< this and `before` under the list's lock
  listed_task* before = nullptr;
};

// Deadlines: from a duration, or from any clock's point in time, to a point in time of the clock that the caller's waits use, without
// overflow. That is the steady clock, and on a simulated machine that machine's. Any thread. Next: await_wake.hpp, which waits until
// one; timer.hpp.

using time_point = std::chrono::steady_clock::time_point;

/// A deadline as waits_for keeps it, for reports.
inline std::int64_t nanoseconds_of(time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// A longer duration counts as infinite: arithmetic with it could overflow.
inline constexpr std::chrono::duration<double> century{100 * 365.25 * 86400};

/// The points in time of simulated machines begin here, 146 years ahead. The steady clock does not get there, so a point in time shows
/// which clock it is of.
inline constexpr time_point simulated_times{std::chrono::nanoseconds{std::int64_t{1} << 62}};
/// The simulated time of the calling thread; if it has none, the steady clock's.
NOPAL_API NOPAL_COLD time_point simulated_now() noexcept;

/// Now, by the clock that the caller's waits use.
inline time_point now_here() noexcept {
  // relaxed: a worker of a simulated machine was started after the machine was counted
  if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return simulated_now();
  return std::chrono::steady_clock::now();
}
/// Now, by the clock that `t` is of.
inline time_point now_by(time_point t) noexcept { return t < simulated_times ? std::chrono::steady_clock::now() : now_here(); }
/// True if the caller's waits use simulated time.
inline bool time_is_simulated() noexcept {
  // relaxed: as above
  return simulated_machines.load(std::memory_order_relaxed) != 0 && simulated_now() >= simulated_times;
}

/// The deadline `d` from now. Now, if `d` is 0, negative, or not a number.
template <class Rep, class Period>
time_point deadline_after(std::chrono::duration<Rep, Period> d) {
  std::chrono::duration<double> const seconds{d};
  auto const now = now_here();
  if (seconds > century) return time_point::max();
  return seconds.count() > 0 ? now + std::chrono::ceil<std::chrono::steady_clock::duration>(d) : now;
}

/// How far `t` is ahead by its own clock; 0 if it has passed. The first subtraction is in floating point: integers may overflow, even those
/// of a clock whose present is negative.
template <class Clock, class Duration>
std::chrono::nanoseconds time_left(std::chrono::time_point<Clock, Duration> t) {
  using seconds = std::chrono::duration<double>;
  auto const now = [&] {
    if constexpr (std::is_same_v<decltype(t), time_point>) {
      return now_by(t);
    } else {
      return Clock::now();
    }
  }();
  seconds const ahead = seconds{t.time_since_epoch()} - seconds{now.time_since_epoch()};
  if (ahead > century) return std::chrono::nanoseconds::max();
  if (!(ahead > -century) || !(t > now)) return std::chrono::nanoseconds::zero();
  return std::chrono::ceil<std::chrono::nanoseconds>(t - now);
}

/// After a wait until `t`: true if the wait must continue, since that clock was set, or is slower than the steady one. Not on a simulated
/// machine: when the wait began, `t` was as far ahead there as by its own clock.
template <class Clock, class Duration>
bool is_still_ahead(std::chrono::time_point<Clock, Duration> t) {
  if constexpr (std::is_same_v<decltype(t), time_point>) {
    if (t >= simulated_times) return t > now_here();
  }
  return !time_is_simulated() && time_left(t).count() > 0;
}
/// `t` by the clock that the caller's waits use: as far ahead as it is by its own.
inline time_point deadline_here(time_point t) { return t < simulated_times && time_is_simulated() ? deadline_after(time_left(t)) : t; }

/// Calls wait(deadline) until it returns true, or until `t` has passed by its own clock. That clock may be set during the wait, and may run
/// faster or slower than the steady clock.
template <class Clock, class Duration, class Wait>
bool by_clock(std::chrono::time_point<Clock, Duration> t, Wait wait) {
  for (;;) {
    if (wait(deadline_after(time_left(t)))) return true;
    if (!is_still_ahead(t)) return false;
  }
}

}  // namespace nopal::core
