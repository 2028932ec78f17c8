#pragma once

// Deadlines: from a duration, or a point in time of any clock, to a point in time of ours, whatever the numbers. Next: timer.hpp.

#include <chrono>
#include <cstdint>

namespace nopal::core {

using time_point = std::chrono::steady_clock::time_point;

/// For reports: a limit as waits_for keeps it.
inline std::int64_t nanoseconds_of(time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// More than that is for ever: what is added to it, or to a time, could overflow.
inline constexpr std::chrono::duration<double> century{100 * 365.25 * 86400};

/// The time limit that lies `d` ahead: now, if that is not more than 0, nor a number.
template <class Rep, class Period>
time_point deadline_after(std::chrono::duration<Rep, Period> d) {
  std::chrono::duration<double> const seconds{d};
  auto const now = std::chrono::steady_clock::now();
  if (seconds > century) return time_point::max();
  return seconds.count() > 0 ? now + std::chrono::ceil<std::chrono::steady_clock::duration>(d) : now;
}

/// How far `t` lies ahead by its own clock; 0, if it has come. In floating point first: any integers may overflow, those of a clock whose
/// present is negative, too.
template <class Clock, class Duration>
std::chrono::nanoseconds time_left(std::chrono::time_point<Clock, Duration> t) {
  using seconds = std::chrono::duration<double>;
  auto const now = Clock::now();
  seconds const ahead = seconds{t.time_since_epoch()} - seconds{now.time_since_epoch()};
  if (ahead > century) return std::chrono::nanoseconds::max();
  if (!(ahead > -century) || !(t > now)) return std::chrono::nanoseconds::zero();
  return std::chrono::ceil<std::chrono::nanoseconds>(t - now);
}

/// wait(limit), until it says yes or it is `t` by its own clock, which may be set, and run faster or slower than ours.
template <class Clock, class Duration, class Wait>
bool by_clock(std::chrono::time_point<Clock, Duration> t, Wait wait) {
  for (;;) {
    if (wait(deadline_after(time_left(t)))) return true;
    if (time_left(t).count() == 0) return false;
  }
}

}  // namespace nopal::core
