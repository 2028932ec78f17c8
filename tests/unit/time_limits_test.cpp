// Points in time at the ends of their clocks: the past is now, and more than a century ahead is for ever.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>

#include "nopal/fiber.hpp"

namespace {

using namespace std::chrono_literals;

/// A clock that is far before its epoch, so that the difference to its last point overflows.
struct late_epoch {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<late_epoch>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() noexcept {
    return time_point{std::chrono::steady_clock::now().time_since_epoch() - std::chrono::hours{24 * 365 * 150}};
  }
};

/// True if all functions that take a point in time treat `limit` as past.
template <class TimePoint>
void is_past(TimePoint limit) {
  auto const begun = std::chrono::steady_clock::now();
  nopal::semaphore none{0};
  EXPECT_FALSE(none.try_acquire_until(limit));
  nopal::mutex m;
  nopal::condition_variable never;
  std::unique_lock lock{m};
  EXPECT_EQ(never.wait_until(lock, limit), std::cv_status::timeout);
  EXPECT_FALSE(never.wait_until(lock, limit, [] { return false; }));
  nopal::sleep_until(limit);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
}

/// True if it is so far ahead that a woken waiter was not woken by it.
template <class TimePoint>
void is_for_ever(TimePoint limit) {
  nopal::semaphore given{0};
  std::thread gives{[&] {
    std::this_thread::sleep_for(30ms);
    given.release();
  }};
  EXPECT_TRUE(given.try_acquire_until(limit));
  gives.join();
  nopal::mutex m;
  nopal::condition_variable changed;
  bool ready = false;
  std::thread notifies{[&] {
    std::this_thread::sleep_for(30ms);
    std::lock_guard const guard{m};
    ready = true;
    changed.notify_one();
  }};
  {
    std::unique_lock lock{m};
    EXPECT_TRUE(changed.wait_until(lock, limit, [&] { return ready; }));
  }
  notifies.join();
}

template <class F>
void on_a_pool_and_off(F f) {
  f();
  nopal::pool pool{{.workers = 2}};
  pool.run(f);
}

template <class Clock>
void ends_of() {
  on_a_pool_and_off([] {
    is_past(Clock::time_point::min());
    is_past(Clock::now() - 1h);
    is_for_ever(Clock::time_point::max());
    is_for_ever(Clock::now() + 24h * 365 * 120);
  });
}

TEST(time_limits, of_the_steady_clock) { ends_of<std::chrono::steady_clock>(); }
TEST(time_limits, of_the_systems_clock) { ends_of<std::chrono::system_clock>(); }
TEST(time_limits, of_a_clock_before_its_epoch) { ends_of<late_epoch>(); }

TEST(time_limits, as_durations) {
  on_a_pool_and_off([] {
    nopal::semaphore none{0};
    EXPECT_FALSE(none.try_acquire_for(std::chrono::nanoseconds::min()));
    EXPECT_FALSE(none.try_acquire_for(std::chrono::hours::min()));
    EXPECT_FALSE(none.try_acquire_for(std::chrono::duration<double>{-1e300}));
    nopal::sleep_for(std::chrono::nanoseconds::min());
    nopal::counter one{1};
    EXPECT_FALSE(nopal::wait_for(one, 0, std::chrono::hours::min()));
    std::thread counts{[&] {
      std::this_thread::sleep_for(30ms);
      one.done();
    }};
    EXPECT_TRUE(nopal::wait_for(one, 0, std::chrono::hours::max()));
    counts.join();
  });
}

}  // namespace
