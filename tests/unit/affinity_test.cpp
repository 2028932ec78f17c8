// Loops whose parts come back to the workers that had them.

#include "nopal/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "nopal/algorithm.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

TEST(affinity, each_iteration_runs_once) {
  for (unsigned const workers : {1U, 2U, 3U, 8U}) {
    nopal::pool pool{{.workers = workers}};
    nopal::affinity keep;
    for (int const n : {0, 1, 2, 7, 8, 63, 64, 65, 1000, 1000, 1000, 3}) {
      std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
      pool.run([&] { nopal::parallel_for(0, n, [&](int i) { ++times[static_cast<std::size_t>(i)]; }, keep); });
      EXPECT_TRUE(std::ranges::all_of(times, [](auto const& t) { return t == 1; })) << n;
      pool.run([&] {
        nopal::parallel_for_blocks(
            0, n,
            [&](int first, int last) {
              EXPECT_LT(first, last);
              for (; first < last; ++first) ++times[static_cast<std::size_t>(first)];
            },
            keep);
      });
      EXPECT_TRUE(std::ranges::all_of(times, [](auto const& t) { return t == 2; })) << n;
    }
  }
}

TEST(affinity, counts_as_other_loops_do) {
  nopal::affinity keep;
  std::atomic<std::uint64_t> sum{0};
  nopal::parallel_for(-3, std::int64_t{4}, [&](std::int64_t i) { sum += static_cast<std::uint64_t>(i * i); }, keep);
  EXPECT_EQ(sum, 28U);
  nopal::parallel_for(5, 3, [&](int) { sum = 0; }, keep);
  EXPECT_EQ(sum, 28U);
  EXPECT_THROW(nopal::parallel_for(-1, 3U, [](auto) {}, keep), std::invalid_argument);
  // Blocks of so many iterations do not overflow.
  std::atomic<std::uint64_t> total{0};
  nopal::parallel_for_blocks(
      std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), [&](std::uint64_t a, std::uint64_t b) { total += b - a; }, keep);
  EXPECT_EQ(total, std::numeric_limits<std::uint64_t>::max());
}

TEST(affinity, throws_what_serial_execution_would_have_thrown_first) {
  nopal::pool pool{{.workers = 3}};
  nopal::affinity keep;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::atomic<int>> ran(100);
    try {
      pool.run([&] {
        nopal::parallel_for(
            0, 100,
            [&](int i) {
              if (i % 30 == 20) throw i;
              ++ran[static_cast<std::size_t>(i)];
            },
            keep);
      });
      FAIL();
    } catch (int i) {
      EXPECT_EQ(i, 20);
    }
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(ran[i], 1);
  }
  std::atomic<int> again{0};
  pool.run([&] { nopal::parallel_for(0, 100, [&](int) { ++again; }, keep); });
  EXPECT_EQ(again, 100);
}

TEST(affinity, is_for_one_loop_at_a_time) {
  nopal::pool pool{{.workers = 2}};
  nopal::affinity keep;
  pool.run([&] {
    EXPECT_THROW(nopal::parallel_for(0, 4, [&](int) { nopal::parallel_for(0, 4, [](int) {}, keep); }, keep), std::logic_error);
    std::atomic<int> n{0};
    nopal::parallel_for(
        0, 4,
        [&](int) {
          nopal::affinity inner;
          nopal::parallel_for(0, 4, [&](int) { ++n; }, inner);
        },
        keep);
    EXPECT_EQ(n, 16);
  });
}

TEST(affinity, may_fork_wait_and_be_stopped) {
  nopal::pool pool{{.workers = 3}};
  nopal::affinity keep;
  std::atomic<int> n{0};
  for (int round = 0; round < 20; ++round) {
    pool.submit([&] {
          nopal::parallel_for(
              0, 24,
              [&](int i) {
                nopal::parallel_invoke([&] { ++n; }, [&] { n += nopal::pool::current()->submit([] { return 1; }).get(); });
                if (i % 3 == 0) nopal::yield();
              },
              keep);
        })
        .get();
  }
  EXPECT_EQ(n, 20 * 48);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(nopal::with_stop(stop.get_token(), [&] { nopal::parallel_for(0, 24, [&](int) { n = 0; }, keep); }), nopal::stopped);
  EXPECT_EQ(n, 20 * 48);
}

TEST(affinity, works_where_nothing_is_stolen_and_where_stacks_stay) {
  nopal::pool apart{{.workers = 3, .experimental = {.steal = false}}};
  nopal::pool home{{.workers = 3, .resume = nopal::resume::home}};
  for (nopal::pool* const pool : {&apart, &home}) {
    nopal::affinity keep;
    std::atomic<int> n{0};
    for (int round = 0; round < 20; ++round) {
      pool->run([&] { nopal::parallel_for(0, 100, [&](int) { ++n; }, keep); });
    }
    EXPECT_EQ(n, 2000);
  }
}

nopal::task<void> runs_on(nopal::worker_ref w, std::function<void()> f) {
  co_await nopal::resume_on(w);
  f();
}

/// Other workers are busy, and need not come: the caller runs all, and sets what they wait for.
TEST(affinity, waits_for_nobody_who_is_busy) {
  for (bool const steal : {true, false}) {
    nopal::pool pool{{.workers = 3, .experimental = {.steal = steal}}};
    std::atomic<bool> done{false};
    std::atomic<int> busy{0};
    std::vector<nopal::future<void>> all;
    for (int k = 0; k < 3; ++k) {
      all.push_back(pool.submit(runs_on, pool.worker(static_cast<unsigned>(k)), [&, k] {  // each on its own, also where nobody steals
        ++busy;
        while (busy < 3) std::this_thread::yield();
        if (k == 0) {
          {
            nopal::affinity keep;
            std::atomic<int> n{0};
            for (int round = 0; round < 5; ++round) nopal::parallel_for(0, 100, [&](int) { ++n; }, keep);
            EXPECT_EQ(n, 500);
          }
          done = true;
        }
        while (!done) std::this_thread::yield();
      }));
      while (busy <= k) std::this_thread::yield();  // so the next job is put where a worker is free
    }
    for (auto& f : all) f.get();
  }
}

/// In a pool whose stacks stay the thread that waits runs nothing else: what it has locked is not locked again on top.
TEST(affinity, joins_as_other_loops_do) {
  nopal::pool pool{{.workers = 2, .resume = nopal::resume::home}};
  std::mutex m;
  int n = 0;
  std::vector<nopal::future<void>> all;
  for (int k = 0; k < 50; ++k) {
    all.push_back(pool.submit([&] {
      nopal::affinity keep;
      std::lock_guard const guard{m};
      std::atomic<int> ran{0};
      nopal::parallel_for(
          0, 8,
          [&](int) {
            std::this_thread::sleep_for(std::chrono::microseconds{20});
            ++ran;
          },
          keep);
      n += ran;
    }));
  }
  for (auto& f : all) f.get();
  EXPECT_EQ(n, 400);
}

// Of another pool after the first has ended.
TEST(affinity, outlives_pools) {
  nopal::affinity keep;
  std::atomic<int> n{0};
  for (unsigned workers = 1; workers < 4; ++workers) {
    nopal::pool pool{{.workers = workers}};
    pool.run([&] { nopal::parallel_for(0, 100, [&](int) { ++n; }, keep); });
  }
  nopal::parallel_for(0, 100, [&](int) { ++n; }, keep);
  EXPECT_EQ(n, 400);
}

}  // namespace
