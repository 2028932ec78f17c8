// A time limit that expires wakes its waiter, also if every worker forks and joins, and none ever searches.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "nopal/algorithm/find.hpp"
#include "nopal/algorithm/minmax.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/algorithm/reduce.hpp"
#include "nopal/channel.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/latch.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/select.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/shared_mutex.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "nopal/timed_mutex.hpp"

namespace {

using namespace std::chrono_literals;

// Forks until something has happened; returns false after a minute.
class until {
 public:
  explicit until(std::atomic<int> const& left) : left_{left} {}
  bool holds() const { return left_.load() == 0 || std::chrono::steady_clock::now() > end_; }

 private:
  std::atomic<int> const& left_;
  std::chrono::steady_clock::time_point const end_ = std::chrono::steady_clock::now() + 1min;
};

nopal::task<long> fib_of_tasks(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib_of_tasks, n - 1);
  co_await nopal::call(&b, fib_of_tasks, n - 2);
  co_await nopal::join;
  co_return a + b;
}
nopal::task<void> only_calls(long n) {
  if (n == 0) co_return;
  co_await nopal::call(only_calls, n - 1);
  co_await nopal::call(only_calls, n - 1);
}
long fib_of_branches(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib_of_branches(n - 1); }, [&] { b = fib_of_branches(n - 2); });
  return a + b;
}
long fib_of_scopes(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::scope s;
  s.fork([&] { a = fib_of_scopes(n - 1); });
  b = fib_of_scopes(n - 2);
  s.join();
  return a + b;
}

struct load {
  std::string name;
  std::function<void(until const&)> run;
};
nopal::task<void> tasks_until(until const& u) {
  while (!u.holds()) {
    long a = 0;
    co_await nopal::fork(&a, fib_of_tasks, 10L);
    co_await nopal::join;
    EXPECT_EQ(a, 55);
  }
}
nopal::task<void> calls_until(until const& u) {
  while (!u.holds()) co_await nopal::call(only_calls, 8L);
}
std::vector<load> const& loads() {
  static std::vector<load> const all{
      {"tasks", [](until const& u) { nopal::sync_wait(tasks_until, std::ref(u)); }},
      {"calls of tasks", [](until const& u) { nopal::sync_wait(calls_until, std::ref(u)); }},
      {"parallel_invoke",
       [](until const& u) {
         while (!u.holds()) EXPECT_EQ(fib_of_branches(10), 55);
       }},
      {"scopes",
       [](until const& u) {
         while (!u.holds()) EXPECT_EQ(fib_of_scopes(10), 55);
       }},
      {"one deep tree",  // the deque is never empty
       [](until const& u) {
         nopal::parallel_invoke(
             [&] {
               while (!u.holds()) EXPECT_EQ(fib_of_branches(10), 55);
             },
             [] {});
       }},
      {"a loop",
       [](until const& u) {
         nopal::parallel_for(0L, 1L << 40, [&](long) {
           if (u.holds()) throw 0;
         });
       }},
      {"short loops",
       [](until const& u) {
         while (!u.holds()) nopal::parallel_for(0, 2, [](int) {});
       }},
      {"reductions",
       [](until const& u) {
         std::vector<long> const ones(1 << 20, 1);
         while (!u.holds()) EXPECT_EQ(nopal::reduce(ones, 0L), 1 << 20);
       }},
      {"one reduction",
       [](until const& u) {
         nopal::transform_reduce(std::views::iota(0L, 1L << 40), 0L, std::plus<>{}, [&](long k) { return u.holds() ? throw 0 : k; });
       }},
      {"short reductions",
       [](until const& u) {
         std::vector<long> const ones(10, 1);
         while (!u.holds()) EXPECT_EQ(nopal::reduce(ones, 0L), 10);
       }},
      {"extremes",
       [](until const& u) {
         std::vector<long> const ones(100'000, 1);
         while (!u.holds()) EXPECT_EQ(*nopal::min_element(ones), 1);
       }},
      {"a search without an end",
       [](until const& u) {
         auto const numbers = std::views::iota(0L, 1L << 40) | std::views::transform([](long k) { return k; });
         nopal::find_if(numbers.begin(), std::unreachable_sentinel, [&](long) { return u.holds(); });
       }},
      {"fibers",
       [](until const& u) {
         while (!u.holds()) {
           nopal::counter some;
           for (int k = 0; k < 10; ++k) nopal::spawn(some, [] { fib_of_branches(5); });
           nopal::wait_for(some);
         }
       }},
      {"yields",
       [](until const& u) {
         while (!u.holds()) nopal::yield();
       }},
  };
  return all;
}

// Locked by the test's thread.
struct two_mutexes {
  nopal::timed_mutex timed;
  nopal::shared_mutex shared;
};
two_mutexes& locked() {
  static two_mutexes both;
  return both;
}

// Each waits until its limit expires.
std::vector<std::pair<char const*, std::function<void()>>> const& waits() {
  static std::vector<std::pair<char const*, std::function<void()>>> const all{
      {"sleep_for", [] { nopal::sleep_for(5ms); }},
      {"a counter",
       [] {
         nopal::counter c{1};
         EXPECT_FALSE(nopal::wait_for(c, 0, 5ms));
         c.done();
       }},
      {"a semaphore",
       [] {
         nopal::semaphore s{0};
         EXPECT_FALSE(s.try_acquire_for(5ms));
       }},
      {"a latch",
       [] {
         nopal::latch l{1};
         EXPECT_FALSE(l.wait_for(5ms));
         l.count_down();
       }},
      {"a condition",
       [] {
         nopal::mutex m;
         nopal::condition_variable c;
         std::unique_lock lock{m};
         EXPECT_EQ(c.wait_for(lock, 5ms), std::cv_status::timeout);
       }},
      {"a pop",
       [] {
         nopal::channel<int> c{1};
         EXPECT_FALSE(c.try_pop_for(5ms).has_value());
       }},
      {"a push",
       [] {
         nopal::channel<int> c{1};
         c.push(1);
         EXPECT_FALSE(c.try_push_for(2, 5ms));
       }},
      {"a select",
       [] {
         nopal::channel<int> c{1};
         EXPECT_EQ(nopal::select(nopal::on_pop(c, [](std::optional<int>) {}), nopal::on_timeout(5ms, [] {})), 1u);
       }},
      {"a deadline",
       [] {
         nopal::counter c{1};
         EXPECT_THROW(nopal::with_time_limit(5ms, [&] { nopal::wait_for(c); }), nopal::stopped);
         c.done();
       }},
      {"a timed mutex", [] { EXPECT_FALSE(locked().timed.try_lock_for(5ms)); }},
      {"a shared mutex", [] { EXPECT_FALSE(locked().shared.try_lock_shared_for(5ms)); }},
  };
  return all;
}

// On a pool on which all workers fork, with each wait in a fiber of its own: all waits must end. One job for each worker, and none ends
// before.
void wait_while_all_fork(nopal::pool_options const& options, load const& l) {
  SCOPED_TRACE(l.name + " on " + std::to_string(options.workers));
  std::lock_guard const timed{locked().timed};
  std::lock_guard const shared{locked().shared};
  std::atomic<int> left{static_cast<int>(waits().size())};
  nopal::pool pool{options};
  nopal::counter fibers, busy, begun{left};
  pool.run([&] {
    for (auto const& [name, wait] : waits()) {
      nopal::spawn(fibers, [&] {
        begun.done();
        wait();
        --left;
      });
    }
  });
  nopal::wait_for(begun);  // else a worker that forks might never run them
  until const u{left};
  for (unsigned k = 0; k < options.workers; ++k) {
    pool.spawn(busy, [&] {
      try {
        l.run(u);
      } catch (int) {  // the loop's end
      }
      EXPECT_EQ(left, 0);
    });
  }
  nopal::wait_for(busy);
  nopal::wait_for(fibers);
}

TEST(due, waits_end_where_all_workers_fork) {
  for (load const& l : loads()) {
    for (unsigned const workers : {1u, 2u, 3u}) wait_while_all_fork({.workers = workers}, l);
  }
}

TEST(due, waits_end_where_all_workers_fork_and_none_steals) {
  for (load const& l : loads()) {
    for (unsigned const workers : {1u, 2u}) wait_while_all_fork({.workers = workers, .steal = false}, l);
  }
}

TEST(due, waits_end_where_all_workers_fork_and_stacks_stay) {
  for (load const& l : loads()) {
    if (l.name == "fibers") continue;  // its waits leave their stacks, one after the other
    for (unsigned const workers : {1u, 2u}) wait_while_all_fork({.workers = workers, .resume = nopal::resume::home}, l);
  }
}

// The caller of run works in the place of the only worker.
TEST(due, waits_end_where_an_external_caller_forks) {
  for (load const& l : loads()) {
    SCOPED_TRACE(l.name);
    nopal::pool pool{{.workers = 1}};
    std::atomic<int> left{1};
    nopal::counter fiber;
    auto const woken = pool.run([&] {
      nopal::spawn(fiber, [&] {
        nopal::sleep_for(5ms);
        --left;
      });
      nopal::yield();  // it begins
      until const u{left};
      try {
        l.run(u);
      } catch (int) {
      }
      return left == 0;
    });
    EXPECT_TRUE(woken);
    nopal::wait_for(fiber);
  }
}

// A saved strand continues unchanged: its results, its exceptions, and what it has locked.
TEST(due, the_strand_that_was_put_aside_keeps_its_results) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> over{false};
  nopal::counter fibers;
  for (int k = 0; k < 4; ++k) {
    pool.spawn(fibers, [&] {
      while (!over) nopal::sleep_for(200us);
    });
  }
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(pool.run(fib_of_tasks, 18L), 2584);
    EXPECT_EQ(pool.run([] { return fib_of_branches(18); }), 2584);
    EXPECT_EQ(pool.run([] { return fib_of_scopes(16); }), 987);
    EXPECT_THROW(pool.run([] { nopal::parallel_invoke([] { fib_of_branches(16); }, [] { throw 7; }); }), int);
  }
  over = true;
  nopal::wait_for(fibers);
}

nopal::task<long> depth(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  co_await nopal::fork(&below, depth, n - 1);
  co_await nopal::join;
  co_return below + 1;
}

// All that it has forked goes into the ring until then.
TEST(due, a_deep_recursion_is_put_aside) {
  nopal::pool pool{{.workers = 1}};
  std::atomic<bool> over{false};
  nopal::counter fiber;
  pool.spawn(fiber, [&] {
    while (!over) nopal::sleep_for(1ms);
  });
  for (int k = 0; k < 5; ++k) EXPECT_EQ(pool.run(depth, 100'000L), 100'000);
  over = true;
  nopal::wait_for(fiber);
}

}  // namespace
