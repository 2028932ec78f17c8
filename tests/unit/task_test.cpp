// fork, call and join: results, and what happens between forks and joins, on pools of every kind.

#include "nopal/task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "nopal/eventually.hpp"
#include "nopal/pool.hpp"
#include "on_every_pool.hpp"

namespace {

using nopal::call;
using nopal::eventually;
using nopal::fork;
using nopal::join;
using nopal::task;
using test::on_every_pool;

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

/// Ends when `flag` is set, which its parent does after the fork: so a thief must resume the parent.
task<> wait_until(std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
  co_return;
}

// ---- Results.

TEST(task, gives_exact_results_on_every_pool) {
  on_every_pool([](nopal::pool& pool) {
    for (int k = 0; k < 20; ++k) ASSERT_EQ(pool.run(fib, 18), 2584);
  });
}

task<long> fib_by_value(long n) {
  if (n < 2) co_return n;
  long a = 0;
  co_await fork(&a, fib_by_value, n - 1);
  long const b = co_await call(fib_by_value, n - 2);
  co_await join;
  co_return a + b;
}

TEST(task, call_without_a_slot_is_an_expression) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(fib_by_value, 16), 987); });
}

task<int> add_to(std::atomic<int>& sum, int n) {
  sum += n;
  co_return n;
}
task<std::string> shout(std::atomic<int>& sum) {
  sum += 1000;
  co_return std::string(100, '!');
}
task<int> drops_results() {
  std::atomic<int> sum{0};
  co_await fork(add_to, sum, 1);
  co_await fork(shout, sum);
  co_await call(add_to, sum, 10);
  co_await fork(add_to, sum, 100);
  co_await call(shout, sum);
  co_await join;
  co_return sum.load();
}

TEST(task, results_nobody_wants_are_dropped) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(drops_results), 2111); });
}

struct no_default {
  explicit no_default(int n) : value{n} {}
  int value;
};
task<no_default> make_no_default(int n) { co_return no_default{n}; }
task<int> uses_eventually() {
  eventually<no_default> a, b;
  co_await fork(&a, make_no_default, 1);
  co_await call(&b, make_no_default, 20);
  co_await join;
  no_default const c = co_await call(make_no_default, 300);
  co_return a->value + (*b).value + c.value;
}

TEST(task, results_need_no_default_constructor) {
  on_every_pool([](nopal::pool& pool) {
    EXPECT_EQ(pool.run(uses_eventually), 321);
    EXPECT_EQ(pool.run(make_no_default, 7).value, 7);
  });
}

task<std::unique_ptr<int>> make_unique(int n) { co_return std::make_unique<int>(n); }
task<int> uses_move_only() {
  std::unique_ptr<int> a;
  eventually<std::unique_ptr<int>> b;
  co_await fork(&a, make_unique, 1);
  co_await fork(&b, make_unique, 20);
  std::unique_ptr<int> const c = co_await call(make_unique, 300);
  co_await join;
  co_return *a + **b + *c;
}

TEST(task, results_may_be_move_only) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(uses_move_only), 321); });
}

task<int&> pick(int& a, int& b, bool first) { co_return first ? a : b; }
task<bool> uses_references() {
  int a = 1, b = 2;
  int* first = nullptr;
  co_await fork(&first, pick, a, b, true);
  int& second = co_await call(pick, a, b, false);
  co_await join;
  second = 20;
  co_return first == &a&& b == 20;
}

TEST(task, results_may_be_references) {
  on_every_pool([](nopal::pool& pool) {
    EXPECT_TRUE(pool.run(uses_references));
    int a = 1, b = 2;
    EXPECT_EQ(&pool.run(pick, a, b, false), &b);
  });
}

struct big {
  std::array<std::uint64_t, 100> words{};
};
task<big> make_big(std::uint64_t n) {
  big b;
  for (std::size_t i = 0; i < b.words.size(); ++i) b.words[i] = n + i;
  co_return b;
}
task<std::string> repeat(std::string text, int n) {
  if (n == 0) co_return std::string{};
  std::string rest;
  co_await fork(&rest, repeat, text, n - 1);
  co_await join;
  co_return text + rest;
}
task<bool> uses_big_results() {
  big a, b;
  std::string s;
  co_await fork(&a, make_big, std::uint64_t{1});
  co_await fork(&s, repeat, "a string longer than fits inside ", 20);
  co_await call(&b, make_big, std::uint64_t{1000});
  co_await join;
  co_return a.words[99] == 100 && b.words[0] == 1000 && b.words[99] == 1099 && s.size() == 33 * 20;
}

TEST(task, results_may_be_big) {
  on_every_pool([](nopal::pool& pool) { EXPECT_TRUE(pool.run(uses_big_results)); });
}

// ---- Scopes.

task<long> joins_often(long n) {
  long total = 0;
  for (long k = 0; k < n; ++k) {
    long a = 0, b = 0;
    co_await fork(&a, fib, k % 10);
    co_await fork(&b, fib, k % 7);
    co_await join;
    total += a * 3 + b;
  }
  co_await join;
  co_return total;
}
long joins_often_serially(long n) {
  constexpr std::array<long, 10> fibs{0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  long total = 0;
  for (long k = 0; k < n; ++k) total += fibs[static_cast<std::size_t>(k % 10)] * 3 + fibs[static_cast<std::size_t>(k % 7)];
  return total;
}

TEST(task, may_have_many_scopes) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(joins_often, 300), joins_often_serially(300)); });
}

task<int> joins_without_forks() {
  co_await join;
  co_await join;
  co_return 1;
}

TEST(task, join_without_forks_goes_on) {
  on_every_pool([](nopal::pool& pool) { EXPECT_EQ(pool.run(joins_without_forks), 1); });
}

task<int> is_stolen_before_a_call() {
  std::atomic<bool> gone_on{false};
  int a = 0, b = 0;
  co_await fork(
      &a,
      [](std::atomic<bool>& flag) -> task<int> {
        co_await call(wait_until, flag);
        co_return 1;
      },
      gone_on);
  co_await call(&b, [](int n) -> task<int> { co_return n; }, 20);
  int const c = co_await call(add_to, *std::make_unique<std::atomic<int>>(0), 300);
  gone_on = true;
  co_await join;
  co_return a + b + c;
}

TEST(task, a_stolen_task_may_call_before_it_joins) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 200; ++k) ASSERT_EQ(pool.run(is_stolen_before_a_call), 321);
}

task<> is_stolen_in_every_scope(int scopes) {
  for (int k = 0; k < scopes; ++k) {
    std::atomic<bool> gone_on{false};
    co_await fork(wait_until, gone_on);
    gone_on = true;
    co_await join;
  }
}

TEST(task, may_be_stolen_in_every_scope) {
  nopal::pool pool{{.workers = 2}};
  pool.run(is_stolen_in_every_scope, 300);
  EXPECT_GE(pool.stats().steals, 300u);
}

task<> sees_its_worker(unsigned home, int depth, std::atomic<int>& elsewhere) {
  if (nopal::this_worker::index() != home) ++elsewhere;
  if (depth == 0) co_return;
  co_await fork(sees_its_worker, home, depth - 1, elsewhere);
  if (nopal::this_worker::index() != home) ++elsewhere;
  co_await call(sees_its_worker, home, depth - 1, elsewhere);
  co_await join;
  if (nopal::this_worker::index() != home) ++elsewhere;
}

TEST(task, stays_on_its_worker_without_stealing) {
  nopal::pool pool{{.workers = 3, .steal = false}};
  std::atomic<int> elsewhere{0};
  pool.run([&]() -> task<> { co_await call(sees_its_worker, nopal::this_worker::index(), 14, elsewhere); });
  EXPECT_EQ(elsewhere.load(), 0);
  EXPECT_EQ(pool.stats().steals, 0u);
}

}  // namespace
