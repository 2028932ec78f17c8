// The thief that must stay awake beside a job that blocks sleeps nearly all the time, and wakes for new work.

#include "nopal/core/sleep/parking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace std::chrono_literals;
constexpr std::int64_t for_ever = 3'600'000'000'000;

TEST(naps, end_by_news) {
  nopal::core::naps naps;
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> woken{false};
    std::thread napper{[&] {
      EXPECT_TRUE(naps.nap(for_ever));
      woken = true;
    }};
    while (!woken) {
      naps.end();  // once may be too early
      std::this_thread::yield();
    }
    napper.join();
  }
}

TEST(naps, end_by_themselves) {
  nopal::core::naps naps;
  for (int round = 0; round < 10; ++round) EXPECT_FALSE(naps.nap(1000));
  naps.end();  // no thread naps: the next nap is as long as any
  EXPECT_FALSE(naps.nap(1000));
}

// The strand that blocks has offered something, which the other worker has taken and done. A thief that searched again 20 µs after each
// failed search made thousands of attempts in this time; on a loaded machine there are fewer, never more.
TEST(naps, beside_a_job_that_blocks_a_thief_seldom_searches) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::free}};
  std::uint64_t attempts = 0;
  pool.run([&] {
    nopal::parallel_invoke(
        [&] {
          std::this_thread::sleep_for(100ms);
          std::uint64_t const before = pool.stats().steal_attempts;
          std::this_thread::sleep_for(400ms);
          attempts = pool.stats().steal_attempts - before;
        },
        [] {});
  });
  EXPECT_LT(attempts, 500u);
}

// Work that is forked, spawned or submitted then is found.
TEST(naps, after_a_job_has_blocked_its_forks_are_stolen) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::free}};
  for (int round = 0; round < 20; ++round) {
    pool.run([] {
      nopal::parallel_invoke(
          [] {
            std::this_thread::sleep_for(15ms);
            std::atomic<bool> stolen{false};
            nopal::parallel_invoke(
                [&] {
                  while (!stolen) std::this_thread::yield();
                },
                [&] { stolen = true; });
          },
          [] {});
    });
    pool.run([&] {
      nopal::parallel_invoke(
          [&] {
            std::this_thread::sleep_for(15ms);
            std::atomic<bool> done{false};
            auto f = pool.submit([&] { done = true; });
            while (!done) std::this_thread::yield();
            f.get();
          },
          [] {});
    });
  }
}

}  // namespace
