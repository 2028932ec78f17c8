// All objects with time limits, besides futures, accept limits of any kind.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>

#include "any_duration.hpp"
#include "nopal/fiber.hpp"

namespace {

using namespace std::chrono_literals;
using test::here_and_on_a_worker;
using test::steady;
using test::wait_for_ever;
using test::wait_for_nothing;
using test::wait_until_for_ever;
using test::wait_until_it_has_come;

TEST(time_limit_test, any_duration_is_right_for_a_counter) {
  here_and_on_a_worker([] {
    nopal::counter never{1}, reached{0};
    auto const waits = [](nopal::counter& c, auto limit) {
      if constexpr (requires { limit.count(); }) {
        return nopal::wait_for(c, 0, limit);
      } else {
        return nopal::wait_until(c, 0, limit);
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(waits(never, d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(waits(never, t)); });
    EXPECT_FALSE(nopal::wait_until(never, 0, std::chrono::system_clock::now() + 2ms));
    auto const comes = [&](auto limit) {
      nopal::counter soon;
      nopal::spawn(soon, [] { nopal::sleep_for(500us); });
      EXPECT_TRUE(waits(soon, limit));
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
    never.done();
  });
}

TEST(time_limit_test, any_duration_is_right_for_a_semaphore) {
  here_and_on_a_worker([] {
    nopal::semaphore s{0};
    auto const acquires = [&](auto limit) {
      if constexpr (requires { limit.count(); }) {
        return s.try_acquire_for(limit);
      } else {
        return s.try_acquire_until(limit);
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(acquires(d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(acquires(t)); });
    auto const comes = [&](auto limit) {
      nopal::counter left;
      nopal::spawn(left, [&] {
        nopal::sleep_for(500us);
        s.release();
      });
      EXPECT_TRUE(acquires(limit));
      nopal::wait_for(left);
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
  });
}

TEST(time_limit_test, any_duration_is_right_for_a_condition_variable) {
  here_and_on_a_worker([] {
    nopal::mutex m;
    nopal::condition_variable changed;
    bool ready = false;
    auto const becomes = [&](auto limit) {
      std::unique_lock lock{m};
      if constexpr (requires { limit.count(); }) {
        return changed.wait_for(lock, limit, [&] { return ready; });
      } else {
        return changed.wait_until(lock, limit, [&] { return ready; });
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(becomes(d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(becomes(t)); });
    auto const comes = [&](auto limit) {
      ready = false;
      nopal::counter left;
      nopal::spawn(left, [&] {
        nopal::sleep_for(500us);
        std::lock_guard const guard{m};
        ready = true;
        changed.notify_all();
      });
      EXPECT_TRUE(becomes(limit));
      nopal::wait_for(left);
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
  });
}

TEST(time_limit_test, any_duration_that_has_passed_is_no_sleep) {
  here_and_on_a_worker([] {
    auto const start = steady::now();
    wait_for_nothing([](auto d) { nopal::sleep_for(d); });
    wait_until_it_has_come([](auto t) { nopal::sleep_until(t); });
    EXPECT_LT(steady::now() - start, 30s);
  });
}

}  // namespace
