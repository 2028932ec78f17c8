#pragma once

// Deadlines: from a duration, or from a point in time of any clock, to a point in time of the steady clock, whatever the numbers. Any
// thread. Next: await_wake_until.hpp, which waits until one; timer.hpp.

#include <chrono>
#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

using time_point = std::chrono::steady_clock::time_point;

/// A deadline as waits_for keeps it, for reports.
inline std::int64_t nanoseconds_of(time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// A longer duration counts as for ever: arithmetic with it could overflow.
inline constexpr std::chrono::duration<double> century{100 * 365.25 * 86400};

/// The deadline that lies `d` ahead of now. It is now if `d` is 0, negative, or not a number.
template <class Rep, class Period>
time_point deadline_after(std::chrono::duration<Rep, Period> d) {
  std::chrono::duration<double> const seconds{d};
  auto const now = std::chrono::steady_clock::now();
  if (seconds > century) return time_point::max();
  return seconds.count() > 0 ? now + std::chrono::ceil<std::chrono::steady_clock::duration>(d) : now;
}

/// How far `t` lies ahead by its own clock; 0 if it has passed. The first subtraction is in floating point: integers may overflow, even
/// those of a clock whose present is negative.
template <class Clock, class Duration>
std::chrono::nanoseconds time_left(std::chrono::time_point<Clock, Duration> t) {
  using seconds = std::chrono::duration<double>;
  auto const now = Clock::now();
  seconds const ahead = seconds{t.time_since_epoch()} - seconds{now.time_since_epoch()};
  if (ahead > century) return std::chrono::nanoseconds::max();
  if (!(ahead > -century) || !(t > now)) return std::chrono::nanoseconds::zero();
  return std::chrono::ceil<std::chrono::nanoseconds>(t - now);
}

/// Calls wait(deadline) until it says true, or until `t` has passed by its own clock. That clock may be set meanwhile, and may run faster
/// or slower than the steady clock.
template <class Clock, class Duration, class Wait>
bool by_clock(std::chrono::time_point<Clock, Duration> t, Wait wait) {
  for (;;) {
    if (wait(deadline_after(time_left(t)))) return true;
    if (time_left(t).count() == 0) return false;
  }
}

}  // namespace nopal::core
