// ParlayLib's four functions on nopal, beside ParlayLib's own tests: where they run, what conservative means, and what they compute.

#include "nopal_parlay.hpp"

#include <gtest/gtest.h>
#include <parlay/primitives.h>
#include <parlay/sequence.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <nopal/nopal.hpp>

#include "../harness.hpp"

namespace {

/// Sorts, sums up and filters; whether all are right.
bool right() {
  auto const numbers = parlay::tabulate(20000, [](std::size_t i) { return i * 7919 % 20011; });
  auto const sorted = parlay::sort(numbers);
  auto expected = numbers;
  std::ranges::sort(expected);
  auto const [sums, total] = parlay::scan(numbers);
  auto const even = parlay::filter(numbers, [](std::size_t x) { return x % 2 == 0; });
  return sorted == expected && total == std::accumulate(numbers.begin(), numbers.end(), std::size_t{0}) &&
         sums[100] == std::accumulate(numbers.begin(), numbers.begin() + 100, std::size_t{0}) &&
         even.size() == static_cast<std::size_t>(std::ranges::count_if(numbers, [](std::size_t x) { return x % 2 == 0; }));
}

TEST(parlay, runs_on_the_pool_of_the_caller) {
  EXPECT_EQ(parlay::num_workers(), nopal::default_pool().workers());
  EXPECT_EQ(parlay::worker_id(), 0u);
  test::on_pools([](nopal::pool& pool) {
    pool.run([&] {
      EXPECT_EQ(parlay::num_workers(), pool.workers());
      EXPECT_LT(parlay::worker_id(), pool.workers());
      EXPECT_TRUE(right());
      parlay::parallel_for(0, 100, [&](std::size_t) { EXPECT_EQ(nopal::pool::current(), &pool); });
      parlay::par_do([&] { EXPECT_EQ(nopal::pool::current(), &pool); }, [&] { EXPECT_EQ(nopal::pool::current(), &pool); });
    });
  });
  EXPECT_TRUE(right());
}

TEST(parlay, nests) {
  nopal::pool pool{{.workers = 3}};
  EXPECT_EQ(test::right_at_once(pool, right), test::places);
}

/// True if a par_do whose second half another worker takes, and which has to wait for it, returns on the worker that has called it.
bool returns_where_it_was(bool conservative) {
  std::size_t const before = parlay::worker_id();
  std::atomic<bool> begun{false};
  parlay::par_do(
      [&] {
        while (!begun) std::this_thread::yield();
      },
      [&] {
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
      },
      conservative);
  return parlay::worker_id() == before;
}

TEST(parlay, stays_on_its_thread_if_conservative) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "its first half waits without a word to the schedule";
  nopal::pool pool{{.workers = 3}};
  pool.submit([] {
        for (int round = 0; round < 20; ++round) EXPECT_TRUE(returns_where_it_was(true));
        // On a slow machine the second half may end first: so this repeats until it has not.
        int round = 0;
        while (round < 100 && returns_where_it_was(false)) ++round;
        EXPECT_LT(round, 100) << "it never moved: the test says nothing";
      })
      .get();
}

TEST(parlay, stays_on_its_thread_in_a_short_loop_too) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "as above";
  nopal::pool pool{{.workers = 3}};
  pool.submit([] {
        for (int round = 0; round < 100; ++round) {
          std::size_t const before = parlay::worker_id();
          parlay::parallel_for(0, 1, [](std::size_t) { static_cast<void>(returns_where_it_was(false)); }, 1, true);
          EXPECT_EQ(parlay::worker_id(), before);
        }
      })
      .get();
}

TEST(parlay, throws_the_first) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_THROW(pool.run([] {
    parlay::parallel_for(0, 1000, [](std::size_t i) {
      if (i == 500) throw std::runtime_error{"500"};
    });
  }),
               std::runtime_error);
}

TEST(parlay, loops_from_one_number_to_another) {
  int calls = 0;
  parlay::parallel_for(5, 5, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 0);
  parlay::parallel_for(5, 6, [&](std::size_t i) { calls += static_cast<int>(i); });
  EXPECT_EQ(calls, 5);
}

}  // namespace
