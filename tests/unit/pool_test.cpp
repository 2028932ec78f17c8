// A pool: how work enters from any thread, its guarantees on time and CPUs, and its counters.

#include "nopal/pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../meeting.hpp"
#include "../rests.hpp"
#include "../scale.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

// ---- Ways in.

TEST(pool, takes_work_from_many_threads_at_once) {
  for (nopal::idle const idle : {nopal::idle::lazy, nopal::idle::busy}) {
    std::atomic<long> detached{0};
    std::atomic<long> wrong{0};
    constexpr long rounds = test::scaled(300);
    {
      nopal::pool pool{{.workers = 2, .idle = idle}};
      std::vector<std::thread> threads;
      for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&] {
          for (long k = 0; k < rounds; ++k) {
            auto submitted = pool.submit(fib, 11);
            if (pool.run(fib, 12) != 144) ++wrong;
            pool.detach([&detached](long n) { detached += n; }, k);
            if (submitted.get() != 89) ++wrong;
          }
        });
      }
      for (std::thread& t : threads) t.join();
    }
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(detached.load(), 6 * rounds * (rounds - 1) / 2);
  }
}

int twice(int n) { return 2 * n; }
struct adder {
  int base;
  int operator()(int n) const { return base + n; }
  int get() const { return base; }
};

TEST(pool, takes_ordinary_callables) {
  nopal::pool pool{{.workers = 2}};
  int n = 0;
  EXPECT_EQ(pool.run(twice, 4), 8);
  EXPECT_EQ(pool.run(adder{30}, 12), 42);
  EXPECT_EQ(pool.run([&n] { return &n; }), &n);
  pool.run([](int& i) { i = 5; }, n);
  EXPECT_EQ(n, 5);
  EXPECT_EQ(&pool.run([](int& i) -> int& { return i; }, n), &n);
  EXPECT_EQ(pool.submit(twice, 5).get(), 10);
  EXPECT_EQ(*pool.run([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(3)), 3);
}

TEST(pool, keeps_a_submitted_closure_and_its_arguments) {
  nopal::pool pool{{.workers = 1}};
  std::vector<nopal::future<std::string>> futures;
  for (int k = 0; k < 100; ++k) {
    std::string const captured(100, 'a');
    std::string argument(50, 'b');
    futures.push_back(pool.submit([captured](std::string s) -> task<std::string> { co_return captured + s; }, argument));
    argument = "changed";
  }
  for (auto& f : futures) EXPECT_EQ(f.get(), std::string(100, 'a') + std::string(50, 'b'));
}

TEST(pool, rethrows_what_a_callable_throws) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_THROW(pool.run([] { throw std::runtime_error{"no"}; }), std::runtime_error);
  EXPECT_THROW(pool.submit([]() -> int { throw std::out_of_range{"no"}; }).get(), std::out_of_range);
  EXPECT_EQ(pool.run(twice, 1), 2);
}

task<long> runs_in_runs(nopal::pool& pool, int depth) {
  if (depth == 0) co_return pool.run(fib, 10);
  long a = 0;
  co_await fork(&a, runs_in_runs, pool, depth - 1);
  long const b = pool.run(runs_in_runs, pool, depth - 1);
  co_await join;
  co_return a + b;
}
task<long> submits_in_submits(nopal::pool& pool, int depth) {
  if (depth == 0) co_return pool.submit(fib, 10).get();
  long a = 0;
  co_await fork(&a, submits_in_submits, pool, depth - 1);
  auto f = pool.submit(submits_in_submits, pool, depth - 1);
  co_await join;
  co_return a + f.get();
}

TEST(pool, may_be_used_by_its_own_worker) {
  nopal::pool pool{{.workers = 1}};
  for (int k = 0; k < 20; ++k) {
    ASSERT_EQ(pool.run(runs_in_runs, pool, 5), 32 * 55);
    ASSERT_EQ(pool.run(submits_in_submits, pool, 5), 32 * 55);
    ASSERT_EQ(pool.submit(runs_in_runs, pool, 5).get(), 32 * 55);
  }
}

TEST(pool, may_be_used_by_another_pools_workers) {
  nopal::pool outer{{.workers = 1}};
  nopal::pool inner{{.workers = 1}};
  EXPECT_EQ(outer.run([&] { return inner.run([&] { return outer.run(fib, 15) + inner.submit(fib, 10).get(); }); }), 610 + 55);
}

TEST(pool, destructor_waits_for_what_was_submitted) {
  std::atomic<int> done{0};
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 20; ++k) {
      pool.detach([&done] {
        std::this_thread::sleep_for(1ms);
        ++done;
      });
      (void)pool.submit([&done]() -> task<> {
        std::this_thread::sleep_for(1ms);
        ++done;
        co_return;
      });
    }
  }
  EXPECT_EQ(done.load(), 40);
}

TEST(pool, destructor_waits_for_what_a_detached_job_detaches) {
  std::atomic<int> done{0};
  {
    nopal::pool pool{{.workers = 2}};
    pool.detach([&] {
      std::this_thread::sleep_for(5ms);
      pool.detach([&] {
        std::this_thread::sleep_for(5ms);
        ++done;
      });
    });
  }
  EXPECT_EQ(done.load(), 1);
}

TEST(pool, default_pool_is_one) {
  EXPECT_EQ(&nopal::default_pool(), &nopal::default_pool());
  EXPECT_GE(nopal::default_pool().workers(), 1u);
  EXPECT_EQ(nopal::default_pool().run(fib, 15), 610);
}

// ---- Time and CPUs.

task<> attends(test::meeting& m) {
  m.attend();
  co_return;
}
task<> gathers_four(test::meeting& m) {
  for (int k = 0; k < 4; ++k) co_await fork(attends, m);
  co_await join;
}

TEST(pool, starts_whatever_can_run_at_once) {
  nopal::pool pool{{.workers = 4}};
  test::meeting all{4};
  pool.run(gathers_four, all);
  EXPECT_TRUE(all.took_place());
}

TEST(pool, at_rest_uses_no_cpu) {
  nopal::pool pool{{.workers = 8}};
  ASSERT_EQ(pool.run(fib, 15), 610);
  EXPECT_TRUE(test::rests());
  EXPECT_EQ(pool.run(fib, 15), 610);
}

TEST(pool, that_is_busy_never_sleeps) {
  nopal::pool pool{{.workers = 2, .idle = nopal::idle::busy}};
  ASSERT_EQ(pool.run(fib, 15), 610);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(pool.stats().sleeps, 0u);
}

TEST(pool, that_is_lazy_sleeps) {
  nopal::pool pool{{.workers = 2}};
  ASSERT_EQ(pool.run(fib, 15), 610);
  auto const end = std::chrono::steady_clock::now() + 1min;
  while (pool.stats().sleeps < 2 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_GE(pool.stats().sleeps, 2u);
}

/// Reports the worker that runs it, and stays until the others are there.
task<unsigned> meets(std::atomic<unsigned>& arrived, unsigned expected) {
  ++arrived;
  while (arrived.load() < expected) std::this_thread::yield();
  co_return nopal::this_worker::index();
}
task<std::set<unsigned>> meet() {
  std::atomic<unsigned> arrived{0};
  std::array<unsigned, 4> index{};
  for (unsigned& i : index) co_await fork(&i, meets, arrived, 4u);
  co_await join;
  co_return std::set<unsigned>(index.begin(), index.end());
}

TEST(pool, workers_that_run_at_once_have_distinct_numbers) {
  nopal::pool pool{{.workers = 4}};
  EXPECT_EQ(pool.workers(), 4u);
  std::set<unsigned> const all{0, 1, 2, 3};
  for (int k = 0; k < 50; ++k) ASSERT_EQ(pool.run(meet), all);
  EXPECT_THROW(nopal::this_worker::index(), std::logic_error);
}

std::string affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::string s;
  for (int i = 0; i < CPU_SETSIZE; ++i) s += CPU_ISSET(i, &mask) ? '1' : '0';
  return s;
}
task<bool> caller_keeps_its_affinity(std::thread::id caller, std::string const& expected, std::atomic<int>& by_caller) {
  if (std::this_thread::get_id() != caller) co_return true;
  ++by_caller;
  co_return affinity() == expected;
}

TEST(pool, leaves_its_callers_affinity_alone) {
  nopal::pool pool;
  std::string const before = affinity();
  std::atomic<int> by_caller{0};
  for (int k = 0; k < 1000 && by_caller < 10; ++k) {
    ASSERT_TRUE(pool.run(caller_keeps_its_affinity, std::this_thread::get_id(), before, by_caller));
    std::this_thread::sleep_for(1ms);  // so that a worker sleeps and the caller may work in its place
  }
  EXPECT_GE(by_caller.load(), 10);
  EXPECT_EQ(affinity(), before);
}

// ---- Counters.

task<> wait_until(std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
  co_return;
}
task<> is_stolen(int times) {
  for (int k = 0; k < times; ++k) {
    std::atomic<bool> gone_on{false};
    co_await fork(wait_until, gone_on);
    gone_on = true;
    co_await join;
  }
}

TEST(pool, counts_steals) {
  nopal::pool pool{{.workers = 3}};
  pool.run(is_stolen, 100);
  nopal::stats const s = pool.stats();
  EXPECT_GE(s.steals, 100u);
  EXPECT_GE(s.steal_attempts, s.steals);
  ASSERT_EQ(s.per_worker.size(), 3u);
}

TEST(pool, counters_are_the_sum_of_the_workers) {
  nopal::pool pool{{.workers = 3}};
  pool.run(is_stolen, 100);
  nopal::stats const s = pool.stats();
  nopal::worker_stats sum;
  for (nopal::worker_stats const& w : s.per_worker) sum += w;
  EXPECT_EQ(sum.steals, s.steals);
  EXPECT_EQ(sum.steal_attempts, s.steal_attempts);
  EXPECT_EQ(sum.suspensions, s.suspensions);
  EXPECT_EQ(sum.sleeps, s.sleeps);
  EXPECT_EQ(sum.wakeups, s.wakeups);
}

}  // namespace
