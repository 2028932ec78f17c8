// Ordinary functions that fork: parallel_invoke and sync_wait.

#include "nopal/native.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "../meeting.hpp"
#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "../scale.hpp"
#include "../this_thread.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::parallel_invoke;
using nopal::sync_wait;
using nopal::task;
using test::number_thrown;
using test::numbered;
using test::on_lazy_and_busy_pools;

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
task<long> fib_task(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib_task, n - 1);
  co_await nopal::call(&b, fib_task, n - 2);
  co_await nopal::join;
  co_return a + b;
}
/// Natively and by coroutines in turn.
long fib_in_turn(long n);
task<long> fib_turned(long n) {
  if (n < 2) co_return n;
  long a = 0;
  co_await nopal::fork(&a, fib_turned, n - 1);
  long const b = fib_in_turn(n - 2);
  co_await nopal::join;
  co_return a + b;
}
long fib_in_turn(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  parallel_invoke([&] { a = fib_in_turn(n - 1); }, [&] { b = sync_wait(fib_turned, n - 2); });
  return a + b;
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

/// Returns once `flag` is set: with two workers, only if the caller's other branch runs elsewhere or has run.
void await(std::atomic<bool> const& flag) {
  while (!flag) std::this_thread::yield();
}

TEST(native, fib_is_exact) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < 5; ++k) ASSERT_EQ(pool.run(fib, 20L), 6765);
  });
}

TEST(native, takes_any_number_of_closures) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    std::vector<int> got(7);
    pool.run([&] {
      parallel_invoke([&] { got[0] = 1; });
      parallel_invoke([&] { got[1] = 2; }, [&] { got[2] = 3; }, [&] { got[3] = 4; });
      parallel_invoke([&] { got[4] = 5; }, [&] { got[5] = 6; }, [&] { got[6] = 7; });
    });
    EXPECT_EQ(got, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
  });
}

TEST(native, one_worker_runs_in_serial_order) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] { parallel_invoke([&] { order += 'a'; }, [&] { order += 'b'; }, [&] { order += 'c'; }); });
  EXPECT_EQ(order, "abc");
}

TEST(native, off_a_pool_it_runs_on_the_default_pool) {
  EXPECT_EQ(fib(15), 610);
  EXPECT_EQ(sync_wait(fib_task, 15L), 610);
  EXPECT_EQ(nopal::default_pool().run(fib, 15L), 610);
}

TEST(native, both_branches_run_at_once_on_two_workers) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 100; ++k) {
    std::atomic<bool> first{false}, second{false};
    pool.run([&] {
      parallel_invoke(
          [&] {
            first = true;
            await(second);
          },
          [&] {
            second = true;
            await(first);
          });
    });
  }
}

TEST(native, a_join_that_waits_leaves_its_stack) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> taken{false};
  pool.run([&] {
    parallel_invoke([&] { await(taken); },
                    [&] {
                      taken = true;
                      sleep_ms(20);
                    });
  });
  EXPECT_GE(pool.stats().suspensions, 1u);
  EXPECT_GE(pool.stats().stacks_peak, 3u);
}

TEST(native, the_caller_of_run_stays_on_its_thread) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 50; ++k) {
    auto const me = test::this_thread();
    std::atomic<bool> taken{false};
    pool.run([&] {
      parallel_invoke([&] { await(taken); },
                      [&] {
                        taken = true;
                        std::this_thread::sleep_for(std::chrono::microseconds{200});
                      });
    });
    ASSERT_EQ(test::this_thread(), me);
  }
}

TEST(native, starts_whatever_can_run_at_once) {
  nopal::pool pool{{.workers = 4}};
  test::meeting all{4};
  auto const leaf = [&] { all.attend(); };
  pool.run([&] { parallel_invoke(leaf, leaf, leaf, leaf); });
  EXPECT_TRUE(all.took_place());
}

TEST(native, coroutines_and_functions_nest_in_each_other) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    EXPECT_EQ(pool.run(fib_in_turn, 16L), 987);
    EXPECT_EQ(pool.run(fib_turned, 16L), 987);
  });
}

task<long> sums(std::vector<long> const& v) {
  long a = 0;
  co_await nopal::fork(&a, fib_task, 10L);
  auto sorted = v;
  std::sort(sorted.begin(), sorted.end(), [](long x, long y) {
    long r = 0;
    parallel_invoke([&] { r += x < y; }, [] {});
    return r != 0;
  });
  co_await nopal::join;
  co_return std::is_sorted(sorted.begin(), sorted.end()) ? a : -1;
}

int compare(void const* x, void const* y) {
  long a = 0, b = 0;
  parallel_invoke([&] { a = fib(*static_cast<long const*>(x)); }, [&] { b = fib(*static_cast<long const*>(y)); });
  return a < b ? -1 : a > b ? 1 : 0;
}

TEST(native, serial_code_in_between_may_fork_in_its_callbacks) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    std::vector<long> v(60);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<long>(i * 37 % 11);
    EXPECT_EQ(pool.run(sums, v), 55);
    pool.run([&] { std::qsort(v.data(), v.size(), sizeof v[0], compare); });
    auto rank = [](long x) { return x < 2 ? x : x == 2 ? 1 : x; };
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [&](long x, long y) { return rank(x) < rank(y); }));
  });
}

/// A serial library: it walks a tree and does not fork. Its visitor forks.
struct leaf {
  long value;
};
struct inner;
using node = std::variant<leaf, std::shared_ptr<inner>>;
struct inner {
  node left, right;
};
template <class Visitor>
long walk(node const& n, Visitor const& v) {
  return std::visit([&](auto const& x) { return v(x); }, n);
}
struct sums_in_parallel {
  long operator()(leaf const& l) const { return l.value; }
  long operator()(std::shared_ptr<inner> const& i) const {
    long a = 0, b = 0;
    if (reinterpret_cast<std::uintptr_t>(i.get()) / 64 % 2 == 0) {
      parallel_invoke([&] { a = walk(i->left, *this); }, [&] { b = walk(i->right, *this); });
    } else {
      nopal::scope s;
      s.fork([&] { a = walk(i->left, *this); });
      b = walk(i->right, *this);
      s.join();
    }
    return a + b;
  }
};
node tree(long from, long to) {
  if (to - from == 1) return leaf{from};
  return std::make_shared<inner>(inner{tree(from, (from + to) / 2), tree((from + to) / 2, to)});
}

TEST(native, a_visitor_may_fork) {
  node const all = tree(0, 1000);
  on_lazy_and_busy_pools([&](nopal::pool& pool) { EXPECT_EQ(pool.run([&] { return walk(all, sums_in_parallel{}); }), 499'500); });
}

TEST(native, a_semaphore_like_lock_may_be_held_across_a_join_above) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<bool> locked{false};
  long inside = 0;
  auto const critical = [&] {
    while (locked.exchange(true)) std::this_thread::yield();
    long const n = inside;
    long sum = fib(8);
    inside = n + (sum == 21);
    locked = false;
  };
  // A worker that waits in the critical section's join must not run another critical section on top of it.
  for (int k = 0; k < test::scaled(200, 10); ++k) {
    inside = 0;
    pool.run([&] { parallel_invoke(critical, critical, critical); });
    ASSERT_EQ(inside, 3);
  }
}

TEST(native, the_first_exception_of_serial_order_comes_out) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < 20; ++k) {
      EXPECT_EQ(number_thrown(pool, [] { parallel_invoke([] { throw numbered{1}; }, [] { throw numbered{2}; }); }), 1);
      EXPECT_EQ(number_thrown(pool, [] { parallel_invoke([] {}, [] { throw numbered{2}; }, [] { throw numbered{3}; }); }), 2);
      EXPECT_EQ(number_thrown(pool, [] { parallel_invoke([] { fib(8); }, [] { fib(8); }, [] { throw numbered{3}; }); }), 3);
    }
  });
}

TEST(native, an_exception_waits_for_the_branch_that_was_stolen) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> taken{false}, ended{false};
  EXPECT_EQ(number_thrown(pool,
                          [&] {
                            parallel_invoke(
                                [&] {
                                  await(taken);
                                  throw numbered{1};
                                },
                                [&] {
                                  taken = true;
                                  sleep_ms(10);
                                  ended = true;
                                  throw numbered{2};
                                });
                          }),
            1);
  EXPECT_TRUE(ended);
}

TEST(native, handlers_survive_a_migration) {
  nopal::pool pool{{.workers = 3}};
  for (int k = 0; k < test::scaled(300, 5); ++k) {
    int const seen = pool.run([] {
      try {
        throw numbered{7};
      } catch (numbered const&) {
        std::atomic<bool> taken{false};
        parallel_invoke([&] { await(taken); },
                        [&] {
                          taken = true;
                          std::this_thread::sleep_for(std::chrono::microseconds{100});
                        });
        try {
          throw;
        } catch (numbered const& e) {
          return e.number;
        }
      }
    });
    ASSERT_EQ(seen, 7);
  }
}

long deep(long n) {
  if (n == 0) return 0;
  long a = 0;
  parallel_invoke([&] { a = 1 + deep(n - 1); }, [] {});
  return a;
}

TEST(native, recursion_goes_as_deep_as_the_stack) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers, .stack_size = std::size_t{64} << 20}};
    long const depth = test::sanitized ? 20'000 : 100'000;
    EXPECT_EQ(pool.run(deep, depth), depth);
    EXPECT_EQ(pool.run(fib, 15L), 610);
  }
}

#ifndef NOPAL_TEST_SANITIZED  // which report it themselves

std::atomic<int> depth_wanted{1 << 30};
[[gnu::noinline]] int endless(int n) {
  if (n > depth_wanted) return 0;
  std::atomic<int> here[64];  // which no compiler leaves out
  here[n % 64] = n;
  return endless(n + 1) + here[n % 64];
}
long endless_forks(long n) {
  if (n > depth_wanted) return 0;
  long a = 0;
  parallel_invoke([&] { a = endless_forks(n + 1); }, [] {});
  return a + n;
}

TEST(native_death, stack_overflow_names_the_stack_and_the_option) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      nopal::pool{{.workers = 2}}.run(endless, 0),
      "stack overflow: the native stack at 0x[0-9a-f]+ of worker [01] is full, all of its 1048576 bytes; .*pool_options::stack_size");
  EXPECT_DEATH(nopal::pool{{.workers = 2}}.submit(endless, 0).get(), "pool_options::stack_size");
  EXPECT_DEATH((nopal::pool{{.workers = 1, .stack_size = 64 * 1024}}.run(endless_forks, 0L)), "all of its 65536 bytes");
}

TEST(native_death, other_faults_go_to_the_handler_that_was_there) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  static std::atomic<std::uintptr_t> nowhere{8};
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { ::_exit(42); });
        nopal::pool{{.workers = 2}}.run([] { *reinterpret_cast<int volatile*>(nowhere.load()) = 1; });
      },
      testing::ExitedWithCode(42), "");
}

#endif

TEST(native, without_stealing_a_pool_runs_serially) {
  nopal::pool pool{{.workers = 3, .steal = false}};
  EXPECT_EQ(pool.run(fib, 15L), 610);
  EXPECT_EQ(pool.stats().steals, 0u);
}

TEST(native, reclaim_makes_no_difference_to_results) {
  for (auto const how : {nopal::reclaim::dontneed, nopal::reclaim::free, nopal::reclaim::remap, nopal::reclaim::none}) {
    nopal::pool pool{{.workers = 4, .reclaim = how}};
    for (int k = 0; k < 10; ++k) ASSERT_EQ(pool.run(fib, 18L), 2584);
  }
}

TEST(native, sync_wait_returns_values_and_exceptions_anywhere) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    auto const fails = []() -> task<int> {
      throw numbered{9};
      co_return 0;
    };
    EXPECT_EQ(pool.run([] { return sync_wait(fib_task, 12L); }), 144);
    EXPECT_EQ(number_thrown(pool, [&] { sync_wait(fails); }), 9);
  });
}

}  // namespace
