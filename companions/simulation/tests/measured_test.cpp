// Programs of measured work, on more workers than there are CPUs: the results are right, and nothing stands still.

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "simulated_pool.hpp"

namespace {

long native_fib(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  nopal::parallel_invoke([&] { a = native_fib(n - 1); }, [&] { b = native_fib(n - 2); });
  return a + b;
}

struct measured : testing::Test {
  with_costs const costs{"report=/dev/null"};
};

TEST_F(measured, forks_of_all_kinds_are_right_on_many_workers) {
  for (char const* const on : {"1", "2", "3", "16", "2x56"}) {
    nopal::pool p{machine(on)};
    EXPECT_EQ(p.run([] { return native_fib(22); }), 17711) << on;
    std::vector<int> v(100'000);
    p.run([&] { nopal::parallel_for(0, 100'000, [&](int i) { v[static_cast<std::size_t>(i)] = i; }); });
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0LL), 4'999'950'000) << on;
    std::atomic<int> ran{0};
    p.run([&] {
      nopal::counter c;
      for (int k = 0; k < 1000; ++k) nopal::spawn(c, [&] { ++ran; });
      nopal::wait_for(c);
    });
    EXPECT_EQ(ran, 1000) << on;
    nopal::simulation_report const r = nopal::simulated(p).value();
    EXPECT_GT(r.elapsed.count(), 0) << on;
    EXPECT_GE(r.working.count() + 1'000'000, r.elapsed.count()) << on;  // some worker always works
  }
}

TEST_F(measured, one_cpu_is_enough) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  {
    nopal::pool p{machine("4")};
    EXPECT_EQ(p.run([] { return native_fib(20); }), 6765);
    EXPECT_GT(nopal::simulated(p)->elapsed.count(), 0);
  }
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

// A long leaf is interrupted, so that the thief gets its part; its clock is the CPU time that it has used.
TEST_F(measured, long_leaves_without_a_fork_run_at_once) {
  nopal::pool p{machine("2")};
  auto const work = [] {
    std::uint64_t volatile x = 1;
    for (int k = 0; k < 20'000'000; ++k) x = x * 3 + 1;
  };
  p.run([&] { nopal::parallel_invoke(work, work); });
  nopal::simulation_report const r = nopal::simulated(p).value();
  EXPECT_GE(std::accumulate(r.steals.begin(), r.steals.end(), std::uint64_t{0}), 1U);
  EXPECT_LT(r.elapsed, r.working);  // they overlap: one after the other they take as long as both
  EXPECT_GE(r.elapsed * 2, r.working);
}

// A worker waits for another by a lock of the program, and the holder may not have the turn.
TEST_F(measured, locks_of_the_program_do_not_bring_all_to_a_stop) {
  nopal::pool p{machine("4")};
  std::mutex m;
  long sum = 0;
  p.run([&] {
    nopal::parallel_for(0, 200, [&](int i) {
      std::lock_guard const guard{m};
      std::uint64_t volatile x = 1;
      for (int k = 0; k < 20'000; ++k) x = x * 3 + 1;
      sum += i;
    });
  });
  EXPECT_EQ(sum, 199 * 200 / 2);
}

TEST_F(measured, a_worker_may_wait_for_another_by_a_condition_variable) {
  nopal::pool p{machine("2")};
  std::mutex m;
  std::condition_variable told;
  bool is_told = false;
  p.run([&] {
    nopal::parallel_invoke(
        [&] {
          std::unique_lock guard{m};
          told.wait(guard, [&] { return is_told; });
        },
        [&] {
          std::lock_guard const guard{m};
          is_told = true;
          told.notify_all();
        });
  });
  EXPECT_TRUE(is_told);
}

TEST_F(measured, malloc_in_long_leaves_is_no_trap) {
  nopal::pool p{machine("8")};
  p.run([] {
    nopal::parallel_for(0, 64, [](int) {
      for (int k = 0; k < 3000; ++k) std::free(std::malloc(static_cast<std::size_t>(64 + k % 5000)));
    });
  });
  EXPECT_GT(nopal::simulated(p)->elapsed.count(), 0);
}

TEST_F(measured, threads_outside_bring_jobs_at_once) {
  nopal::pool p{machine("4")};
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) sum += p.run([] { return native_fib(12); });
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 20 * 144);
}

TEST_F(measured, timers_and_fibers_that_sleep_come_to_their_end) {
  nopal::pool p{machine("4")};
  p.run([] {
    nopal::counter c;
    for (int k = 0; k < 20; ++k) nopal::spawn(c, [] { nopal::sleep_for(std::chrono::milliseconds{5}); });
    nopal::wait_for(c);
  });
}

TEST_F(measured, pools_on_simulated_machines_wait_for_each_other) {
  nopal::pool a{machine("3")};
  nopal::pool b{machine("2x2")};
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([] { return native_fib(15); }); }); }), 610);
}

}  // namespace
