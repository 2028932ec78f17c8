// Fibers: what spawns them, which worker runs them, and their order.

#include "nopal/fiber.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "../on_pools.hpp"
#include "../rests.hpp"
#include "../scale.hpp"
#include "nopal/channel.hpp"
#include "nopal/native.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_lazy_and_busy_pools;

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  counter left;
  spawn(left, [&] { a = fib(n - 1); });
  spawn(left, [&] { b = fib(n - 2); });
  wait_for(left);
  return a + b;
}

TEST(fiber_test, fib_is_exact) {
  on_lazy_and_busy_pools([](nopal::pool& pool) { EXPECT_EQ(pool.run(fib, 15L), 610); });
}

TEST(fiber_test, a_million_may_wait_to_start) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<long> sum{0};
  long const n = test::scaled(1'000'000, 50);
  pool.run([&] {
    counter left;
    for (long k = 0; k < n; ++k) spawn(left, [&sum] { sum.fetch_add(1, std::memory_order_relaxed); });
    wait_for(left);
  });
  EXPECT_EQ(sum, n);
  EXPECT_EQ(pool.stats().fibers_spawned, static_cast<std::uint64_t>(n));
}

TEST(fiber_test, the_destructor_of_the_pool_waits_for_them) {
  std::atomic<int> ended{0};
  {
    nopal::pool pool{{.workers = 2}};
    pool.run([&] {
      for (int k = 0; k < 10; ++k) {
        spawn([&] {
          nopal::sleep_for(5ms);
          spawn([&] { ++ended; });
        });
      }
    });
  }
  EXPECT_EQ(ended, 10);
}

TEST(fiber_test, off_a_pool_they_run_on_the_default_pool) {
  counter left;
  std::atomic<int> ran{0};
  for (int k = 0; k < 100; ++k) spawn(left, [&] { ++ran; });
  wait_for(left);
  EXPECT_EQ(ran, 100);
}

TEST(fiber_test, closures_are_moved_or_copied_and_destroyed_before_the_counter_falls) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    auto shared = std::make_shared<int>(1);
    counter left;
    for (int k = 0; k < 100; ++k) spawn(left, [shared] { ASSERT_EQ(*shared, 1); });
    wait_for(left);
    EXPECT_EQ(shared.use_count(), 1);
    std::string const large(300, 'x');
    std::array<char, 500> bytes{};
    bytes[499] = 'y';
    spawn(left, [bytes, large] { EXPECT_EQ(bytes[499], 'y'); });
    wait_for(left);
  });
}

TEST(fiber_test, sleepers_cost_neither_workers_nor_threads) {
  nopal::pool pool{{.workers = 2}};
  auto const begin = std::chrono::steady_clock::now();
  std::atomic<int> asleep{0};
  std::atomic<int> most{0};
  pool.run([&] {
    counter left;
    for (int k = 0; k < 500; ++k) {
      spawn(left, [&] {
        int const now = ++asleep;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        nopal::sleep_for(50ms);
        --asleep;
      });
    }
    wait_for(left);
  });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  EXPECT_GT(most, 2);  // one on each worker, if they cost one
}

TEST(fiber_test, yield_lets_the_others_run) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    counter left;
    for (char const c : {'a', 'b'}) {
      spawn(left, [&order, c] {
        for (int k = 0; k < 3; ++k) {
          order += c;
          nopal::yield();
        }
      });
    }
    wait_for(left);
  });
  EXPECT_EQ(std::count(order.begin(), order.end(), 'a'), 3);
  EXPECT_EQ(order.find("aaa"), std::string::npos) << order;
  EXPECT_EQ(order.find("bbb"), std::string::npos) << order;
}

TEST(fiber_test, fibers_tasks_and_functions_nest) {
  auto const task_of = [](auto self, long n) -> task<long> {
    if (n < 2) co_return n;
    long a = 0, b = 0;
    counter left;
    spawn(left, [&] { a = nopal::sync_wait(self, self, n - 1); });
    co_await nopal::fork(
        &b,
        [](auto me, long m) -> task<long> {
          long r = 0;
          nopal::scope s;
          s.fork([&] { r = nopal::sync_wait(me, me, m); });
          s.join();
          co_return r;
        },
        self, n - 2);
    co_await left.reaches(0);
    co_await nopal::join;
    co_return a + b;
  };
  on_lazy_and_busy_pools([&](nopal::pool& pool) { EXPECT_EQ(pool.run(task_of, task_of, 11L), 89); });
}

TEST(fiber_test, without_stealing_they_stay) {
  nopal::pool pool{{.workers = 3, .steal = false}};
  EXPECT_EQ(pool.run(fib, 12L), 144);
  EXPECT_EQ(pool.stats().steals, 0u);
}

TEST(fiber_test, yield_lets_run_what_was_offered_or_submitted) {
  nopal::pool pool{{.workers = 1}};
  std::atomic<bool> flag{false};
  auto const until_flag = [&] {
    while (!flag) nopal::yield();
  };
  auto const set_flag = [&] { flag = true; };
  auto first = pool.submit([] { std::this_thread::sleep_for(10ms); });  // so that the next two start at the same time
  auto second = pool.submit(until_flag);
  auto third = pool.submit(set_flag);
  first.get();
  second.get();
  third.get();
  flag = false;
  pool.submit([&] { nopal::parallel_invoke(until_flag, set_flag); }).get();
  flag = false;
  pool.submit([&] {
        nopal::scope s;
        s.fork(until_flag);
        flag = true;
        s.join();
      })
      .get();
}

TEST(fiber_test, an_older_fiber_starts_though_newer_ones_keep_waking_each_other) {
  nopal::pool pool{{.workers = 1}};
  pool.submit([] {
        std::atomic<bool> stop{false};
        nopal::channel<int> numbers{1};
        counter left;
        spawn(left, [&] { stop = true; });
        spawn(left, [&] {
          while (numbers.pop()) {
          }
        });
        spawn(left, [&] {
          while (!stop) numbers.push(1);
          numbers.close();
        });
        wait_for(left);
      })
      .get();
}

// Also at an inbox's turn, if it has only what has yielded.
TEST(fiber_test, a_yield_lets_all_begin_that_was_spawned) {
  nopal::pool pool{{.workers = 1}};
  pool.submit([] {
        counter left;
        for (int k = 1; k <= 400; ++k) {  // the inbox has its turn once in 128 looks at the ring
          int begun = 0;
          for (int i = 0; i < k % 5 + 1; ++i) spawn(left, [&] { ++begun; });
          nopal::yield();
          EXPECT_EQ(begun, k % 5 + 1) << k;
          wait_for(left);
        }
      })
      .get();
}

// Two that wake each other and one that yields: the oldest ready fiber has its turn.
TEST(fiber_test, yields_do_not_keep_the_oldest_from_its_turn) {
  nopal::pool pool{{.workers = 1}};
  pool.submit([] {
        std::atomic<bool> over{false};
        bool begun = false;
        counter left;
        spawn(left, [&] {
          begun = true;
          over = true;
        });  // the oldest
        nopal::channel<int> there{1}, back{1};
        spawn(left, [&] {
          while (there.pop()) back.push(1);
        });
        spawn(left, [&] {
          for (long k = 0; k < 200'000 && !over; ++k) {
            there.push(1);
            back.pop();
          }
          over = true;
          there.close();
        });
        spawn(left, [&] {
          while (!over) nopal::yield();
        });
        spawn(left, [&] {
          while (!over) nopal::yield();
        });
        while (!over) nopal::yield();
        EXPECT_TRUE(begun);
        wait_for(left);
      })
      .get();
}

TEST(fiber_test, many_that_yield_cost_no_more_each) {
  nopal::pool pool{{.workers = 1}};
  pool.submit([] {
        counter left;
        for (int k = 0; k < test::scaled(4'000, 20); ++k) {
          spawn(left, [] {
            for (int n = 0; n < 5; ++n) nopal::yield();
          });
        }
        wait_for(left);  // 15 s if each yield visits all that wait
      })
      .get();
}

TEST(fiber_test, blocks_from_outside_have_the_size_of_those_from_inside) {
  struct forty {
    std::array<long, 2> words;
    void operator()() const {}
  };
  struct more {
    std::array<long, 4> words;
    void operator()() const { EXPECT_EQ(words[3], 4); }
  };
  counter left;
  for (int k = 0; k < 600; ++k) spawn(left, forty{{1, 2}});
  wait_for(left);
  nopal::default_pool().run([&] {
    for (int k = 0; k < 600; ++k) spawn(left, more{{1, 2, 3, 4}});
    wait_for(left);
  });
}

task<int> deep(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await nopal::call(deep, n - 1);
}

TEST(fiber_test, a_deep_task_follows_an_ordinary_job_on_its_stack) {
  nopal::pool pool{{.workers = 1}};
  pool.submit([] {}).get();
  int const depth = static_cast<int>(test::scaled(1'000'000, 50));
  EXPECT_EQ(pool.submit(deep, depth).get(), depth);
}

TEST(fiber_test, a_pool_whose_fibers_thieves_have_taken_comes_to_rest) {
  nopal::pool pool{{.workers = 2}};
  std::this_thread::sleep_for(20ms);
  pool.run([] {
    std::atomic<bool> ran{false};
    spawn([&] { ran = true; });
    while (!ran) {
    }
  });
  EXPECT_TRUE(test::rests());
}

TEST(fiber_test, a_report_says_what_waits_for_what) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(pool.report(), "nothing waits\n");
  counter go{1};
  pool.run([&] {
    counter left;
    for (int k = 0; k < 2; ++k) spawn(left, [&] { wait_for(go); });
    std::string report;
    auto const both_wait = [&] { return report.find("2 native stacks wait\n") != std::string::npos; };
    for (auto const end = std::chrono::steady_clock::now() + 1min; !both_wait() && std::chrono::steady_clock::now() < end; nopal::yield()) {
      report = pool.report();
    }
    EXPECT_TRUE(both_wait()) << report;
    char where[64];
    std::snprintf(where, sizeof where, " waits for a counter at %p\n", static_cast<void*>(&go));
    EXPECT_NE(report.find(where), std::string::npos) << report;
    go.done();
    wait_for(left);
  });
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

#ifndef NDEBUG

/// What a pool says in which nothing else runs than `stuck`, until let_go().
template <class LetGo>
std::string said_while(nopal::future<void> const& stuck, LetGo let_go) {
  testing::internal::CaptureStderr();
  std::this_thread::sleep_for(2500ms);
  let_go();
  stuck.wait();
  return testing::internal::GetCapturedStderr();
}

TEST(fiber_test, a_pool_that_comes_to_a_stop_says_so) {
  nopal::pool pool{{.workers = 2}};
  counter go{1};
  auto const stuck = pool.submit([&] { wait_for(go); });
  std::string const said = said_while(stuck, [&] { go.done(); });
  EXPECT_NE(said.find("nothing has been able to run"), std::string::npos) << said;
  EXPECT_NE(said.find(" waits for a counter at "), std::string::npos) << said;
}

TEST(fiber_test, a_pool_in_which_only_tasks_wait_says_so) {
  nopal::pool pool{{.workers = 2}};
  nopal::semaphore go{0};
  auto const stuck = pool.submit([](nopal::semaphore& s) -> nopal::task<void> { co_await s.acquire(); }, std::ref(go));
  std::string const said = said_while(stuck, [&] { go.release(); });
  EXPECT_NE(said.find("nothing has been able to run"), std::string::npos) << said;
  EXPECT_NE(said.find(" waits for a semaphore at "), std::string::npos) << said;
}

#endif

TEST(fiber_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run([] { spawn([] { throw std::runtime_error{"lost"}; }); });
      },
      "nopal: an exception left a fiber \\(lost\\), and no counter was given");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run([] { counter c{2}; });
      },
      "nopal: a counter was destroyed at 2, while fibers may still count it down");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run([] {
          auto c = std::make_unique<counter>(1);
          bool begun = false;
          spawn([&] {
            begun = true;
            wait_for(*c);
          });
          while (!begun) nopal::yield();
          c.reset();
        });
      },
      "nopal: a counter was destroyed while a fiber, task or thread waits for it");
}

}  // namespace
