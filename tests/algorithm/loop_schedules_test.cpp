// Loops under controlled schedules, and their effect on the pool: splits are stolen, short loops wake no worker.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "nopal/algorithm.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

long sum_of_nested_loops() {
  std::atomic<long> sum{0};
  nopal::parallel_for(0, 20, [&](int a) {
    nopal::parallel_for(0, 20, [&](int b) { sum += a * 20 + b; });
    if (a % 5 == 0) nopal::yield();
  });
  nopal::parallel_invoke([&] { nopal::parallel_for(0, 30, 0, 7, [&](int, int) { ++sum; }); },
                         [&] { nopal::parallel_for_blocks(0, 100, [&](int f, int l) { sum += l - f; }); });
  return sum;
}
constexpr long expected = 399l * 200 + 210 + 100;

TEST(loop_schedules, are_all_the_same_to_a_loop) {
  for (auto const s : {nopal::schedule::steal_always, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 3, .schedule = s}};
    EXPECT_EQ(pool.run(sum_of_nested_loops), expected);
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    nopal::pool pool{{.workers = 4, .seed = seed, .schedule = nopal::schedule::steal_at_random}};
    EXPECT_EQ(pool.run(sum_of_nested_loops), expected) << "seed " << seed;
  }
}

TEST(loop_schedules, let_others_steal_from_each_loop) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  for (int const n : {2, 3, 100}) {
    auto const before = pool.stats().steals;
    pool.run([=] { nopal::parallel_for(0, n, [](int) {}); });
    EXPECT_GT(pool.stats().steals, before) << n;
  }
  nopal::pool never{{.workers = 2, .schedule = nopal::schedule::steal_never}};
  never.run([&] {  // the job itself may have been taken from the worker to which it was given
    auto const before = never.stats().steals;
    nopal::parallel_for(0, 100, [](int) {});
    EXPECT_EQ(never.stats().steals, before);
  });
}

// The same seed gives the same blocks, unless a worker lost its turn since the machine had other work: such runs are left out.
TEST(loop_schedules, come_again) {
  auto const blocks = [](std::uint64_t seed) {
    std::vector<unsigned> who(1000);
    for (;;) {
      nopal::pool pool{{.workers = 3, .seed = seed, .schedule = nopal::schedule::steal_at_random}};
      pool.run([&] { nopal::parallel_for(0u, 1000u, [&](unsigned i) { who[i] = nopal::this_worker::index(); }); });
      if (pool.stats().lost_turns == 0) return who;
    }
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) EXPECT_EQ(blocks(seed), blocks(seed)) << seed;
}

TEST(loop_schedules, wake_nobody_for_a_short_loop) {
  nopal::pool pool{{.workers = 2}};
  std::vector<int> v(10);
  while (pool.stats().sleeps < 2) nopal::sleep_for(std::chrono::milliseconds{1});
  pool.run([&] { nopal::parallel_for(0, 10, [&](int i) { v[static_cast<std::size_t>(i)] = i; }); });
  EXPECT_EQ(pool.stats().wakeups, 0u);
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 45);
}

// A loop with a slow body is shared although its cost is not known yet, and each of its iterations may run on another worker.
TEST(loop_schedules, share_what_is_long) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> other{false};
  pool.run([&] {
    unsigned const me = nopal::this_worker::index();
    nopal::parallel_for(0, 1'000'000, [&](int) {
      if (other.load(std::memory_order_relaxed)) return;
      volatile int x = 0;
      for (int k = 0; k < 1000; ++k) x = x + k;
      if (nopal::this_worker::index() != me) other = true;
    });
  });
  EXPECT_TRUE(other.load());
}

}  // namespace
