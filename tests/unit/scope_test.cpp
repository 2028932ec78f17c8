// Scopes: ordinary functions that fork one by one.

#include "nopal/scope.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../fib.hpp"
#include "../meeting.hpp"
#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::scope;
using nopal::task;
using test::on_lazy_and_busy_pools;
using test::scoped::fib;

void await(std::atomic<bool> const& flag) {
  while (!flag) std::this_thread::yield();
}
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

TEST(scope_test, fib_is_exact) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < 5; ++k) ASSERT_EQ(pool.run(fib, test::scaled(20, 2)), test::sanitized ? 55 : 6765);
  });
}

TEST(scope_test, one_worker_runs_in_serial_order) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    scope s;
    s.fork([&] { order += 'a'; });
    order += 'b';
    s.fork([&] { order += 'c'; });
    s.join();
    order += 'd';
  });
  EXPECT_EQ(order, "abcd");
}

TEST(scope_test, a_loop_of_forks_takes_one_stack_a_worker) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    std::vector<int> done(static_cast<std::size_t>(test::scaled(20'000)));
    pool.run([&] {
      scope s;
      for (int& d : done) s.fork([&d] { d = 1; });
      s.join();
    });
    EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(done.size()));
    // The parent's, and for each worker one to run a child on, one to look for work on, and one on its way.
    EXPECT_LE(pool.stats().stacks_peak, 3 * pool.workers() + 1);
  });
}

TEST(scope_test, the_parent_goes_on_elsewhere_while_its_child_runs) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 50; ++k) {
    std::atomic<bool> went_on{false};
    pool.run([&] {
      scope s;
      s.fork([&] { await(went_on); });
      went_on = true;
      s.join();
    });
  }
  EXPECT_GE(pool.stats().steals, 50u);
}

TEST(scope_test, a_join_that_waits_leaves_its_stack) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> went_on{false};
  pool.run([&] {
    scope s;
    s.fork([&] {
      await(went_on);
      sleep_ms(20);
    });
    went_on = true;
    s.join();
  });
  EXPECT_GE(pool.stats().suspensions, 1u);
}

TEST(scope_test, starts_whatever_can_run_at_once) {
  nopal::pool pool{{.workers = 4}};
  test::meeting all{4};
  pool.run([&] {
    scope s;
    for (int k = 0; k < 4; ++k) s.fork([&] { all.attend(); });
    s.join();
  });
  EXPECT_TRUE(all.took_place());
}

TEST(scope_test, a_scope_joins_many_times) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    long const sum = pool.run([] {
      scope s;
      long all = 0;
      for (int round = 0; round < 20; ++round) {
        long parts[8] = {};
        for (long& p : parts) s.fork([&p] { p = fib(6); });
        s.join();
        for (long const p : parts) all += p;
      }
      return all;
    });
    EXPECT_EQ(sum, 20 * 8 * 8);
  });
}

TEST(scope_test, closures_are_moved_or_copied) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    auto owned = std::make_unique<int>(5);
    int seen = 0;
    auto const copied = [text = std::string(100, 'x'), &seen] { seen += static_cast<int>(text.size()); };
    scope s;
    s.fork([p = std::move(owned), &seen] { seen += *p; });
    s.join();
    s.fork(copied);
    s.join();
    s.fork(copied);
    s.join();
    EXPECT_EQ(seen, 205);
  });
}

TEST(scope_test, from_coroutines_serial_callbacks_and_off_a_pool) {
  EXPECT_EQ(fib(test::scaled(15, 2)), test::sanitized ? 13 : 610);  // off a pool: each child is a job
  auto const in_a_task = [](long n) -> task<long> {
    long a = 0;
    scope s;
    s.fork([&] { a = fib(n); });
    long const b = fib(n);
    s.join();
    long c = 0;
    co_await nopal::fork(&c, [](long m) -> task<long> { co_return fib(m); }, n);
    scope t;
    t.fork([&] { a += fib(n); });
    t.join();
    co_await nopal::join;
    co_return a + b + c;
  };
  on_lazy_and_busy_pools([&](nopal::pool& pool) {
    EXPECT_EQ(pool.run(in_a_task, 8L), 4 * 21);
    std::vector<long> v{5, 3, 1, 4, 2};
    pool.run([&] {
      std::sort(v.begin(), v.end(), [](long x, long y) {
        long a = 0, b = 0;
        scope s;
        s.fork([&] { a = fib(x); });
        s.fork([&] { b = fib(y); });
        s.join();
        return a < b;
      });
    });
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [](long x, long y) { return fib(x) < fib(y); }));
  });
}

/// Also one that was moved from.
struct runs_when_destroyed {
  nopal::pool* pool;
  std::atomic<long>* wrong;
  ~runs_when_destroyed() {
    *wrong += pool->run(fib, 5L) != 5;
    *wrong += pool->run([]() -> task<long> { co_return 1; }) != 1;
  }
};

// The parent is stolen and the strand unwinds to its base while a parameter's destructor runs another job.
TEST(scope_test, destructors_of_arguments_may_run_roots_while_a_strand_unwinds) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<long> wrong{0};
  std::atomic<long> ended{0};
  auto const child = [](std::atomic<bool>& stolen, std::atomic<long>& count, runs_when_destroyed) -> task<void> {
    await(stolen);
    ++count;
    co_return;
  };
  auto const parent = [&]() -> task<void> {
    std::atomic<bool> stolen{false};
    co_await nopal::fork(child, stolen, ended, runs_when_destroyed{&pool, &wrong});
    stolen = true;
    co_await nopal::join;
  };
  for (int k = 0; k < test::scaled(200, 10); ++k) {
    pool.run(parent);
    ASSERT_EQ(wrong, 0);
    ASSERT_EQ(ended, k + 1);
  }
}

long nested(long n) {
  if (n == 0) return 0;
  long a = 0;
  scope s;
  s.fork([&a, n] { a = nested(n - 1) + 1; });
  s.join();
  return a;
}

TEST(scope_test, forks_nest_as_deep_as_there_is_memory_for_stacks) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers, .stack_size = std::size_t{64} << 10}};
    EXPECT_EQ(pool.run(nested, test::scaled(3'000, 10)), test::scaled(3'000, 10));
    EXPECT_EQ(pool.run(fib, 10L), 55);
  }
}

#ifndef NOPAL_TEST_SANITIZED  // a limit on address space would make the sanitizer's own mappings fail

TEST(scope_test, without_memory_for_stacks_forks_run_serially) {
  if (test::emulated()) GTEST_SKIP() << "the emulator's own mappings would fail";
  for (unsigned const workers : {1u, 2u, 8u}) {
    nopal::pool pool{{.workers = workers, .stack_size = std::size_t{8} << 20}};
    EXPECT_EQ(pool.run(fib, 15L), 610);
    for (unsigned w = 0; w < workers; ++w) {  // a thread that starts needs memory of its own
      while (pool.stats().per_worker[w].sleeps == 0) std::this_thread::yield();
    }
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    rlimit none = before;
    none.rlim_cur = 1;  // no mapping succeeds
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
    long const deep = pool.run(nested, 1'000L);
    long const wide = pool.run(fib, 18L);
    long const invoked = pool.run([] {
      long sum = 0;
      for (int k = 0; k < 1000; ++k) {
        long a = 0, b = 0;
        nopal::parallel_invoke([&] { a = fib(4); }, [&] { b = fib(5); });
        sum += a + b;
      }
      return sum;
    });
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_EQ(deep, 1'000);
    EXPECT_EQ(wide, 2584);
    EXPECT_EQ(invoked, 8'000);
    EXPECT_GT(pool.stats().serial_forks, 0u);
    EXPECT_EQ(pool.run(fib, 15L), 610);
  }
}

#endif

TEST(scope_death, a_child_that_forks_in_its_parents_scope_is_told_so) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  test::races_are_not_reported();  // the child reads of the scope what its parent writes
  EXPECT_DEATH(nopal::pool{{.workers = 2}}.run([] {
    scope s;
    s.fork([&] { s.fork([] {}); });
    s.join();
  }),
               "nopal: a scope forked on another stack than its own: in one of its children");
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] {
    scope s;
    s.fork([&] {
      scope t;
      t.fork([&] { throw 1; });
      s.join();
      t.fork([&] { t.join(); });
    });
    s.join();
  }),
               "nopal: a scope was joined on another stack than its own");
}

}  // namespace
