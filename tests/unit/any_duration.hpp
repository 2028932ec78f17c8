#pragma once

// Time limits of any kind: long ones that never expire in practice, and ones that have passed.

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include "nopal/pool.hpp"

namespace test {

using steady = std::chrono::steady_clock;
template <class Rep, class Period = std::ratio<1>>
using in = std::chrono::duration<Rep, Period>;

// None of these expires in practice.
template <class Wait>
void wait_for_ever(Wait wait) {
  wait(std::chrono::hours::max());
  wait(std::chrono::minutes::max());
  wait(std::chrono::nanoseconds::max());
  wait(std::chrono::years{400});
  wait(in<std::int64_t, std::ratio<3600 * 24 * 365L>>::max());
  wait(in<std::uint64_t>::max());
  wait(in<double>{std::numeric_limits<double>::infinity()});
  wait(in<double>{1e300});
  wait(in<float>{std::numeric_limits<float>::infinity()});
  wait(in<long double, std::milli>{std::numeric_limits<long double>::max()});
}
// All of these have passed.
template <class Wait>
void wait_for_nothing(Wait wait) {
  wait(std::chrono::seconds{0});
  wait(std::chrono::nanoseconds{-1});
  wait(std::chrono::nanoseconds::min());
  wait(std::chrono::hours::min());
  wait(in<double>{-std::numeric_limits<double>::infinity()});
  wait(in<double>{-1e300});
  wait(in<double>{std::numeric_limits<double>::quiet_NaN()});
  wait(in<float>{std::numeric_limits<float>::quiet_NaN()});
  wait(in<float>{-0.F});
}

/// Its present is 148 years before its epoch, as that of std::chrono::file_clock may be: differences overflow on the other side.
struct early_clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<early_clock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point{steady::now().time_since_epoch() - std::chrono::hours{148 * 365 * 24}}; }
};
template <class Clock, class Wait>
void points_for_ever(Wait wait) {
  wait(Clock::time_point::max());
  wait(std::chrono::time_point<Clock, std::chrono::hours>::max());
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{std::numeric_limits<double>::infinity()}});
}
template <class Clock, class Wait>
void points_that_have_come(Wait wait) {
  wait(Clock::now());
  wait(Clock::now() - std::chrono::hours{1});
  wait(Clock::time_point::min());
  wait(std::chrono::time_point<Clock, std::chrono::hours>::min());
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{-std::numeric_limits<double>::infinity()}});
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{std::numeric_limits<double>::quiet_NaN()}});
}
template <class Wait>
void wait_until_for_ever(Wait wait) {
  points_for_ever<steady>(wait);
  points_for_ever<std::chrono::system_clock>(wait);
  points_for_ever<early_clock>(wait);
}
template <class Wait>
void wait_until_it_has_come(Wait wait) {
  points_that_have_come<steady>(wait);
  points_that_have_come<std::chrono::system_clock>(wait);
  points_that_have_come<early_clock>(wait);
}

/// On a thread that works for no pool, then on a worker.
template <class F>
void here_and_on_a_worker(F f) {
  f();
  nopal::pool pool{{.workers = 2}};
  pool.submit(f).get();
}

}  // namespace test
