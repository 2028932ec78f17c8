// What pool::submit returns.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "nopal/after.hpp"
#include "nopal/pool.hpp"
#include "nopal/shared_future.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::task;

task<int> plus_one(int n) { co_return n + 1; }

TEST(future, gives_its_value_once) {
  nopal::pool pool{{.workers = 1}};
  nopal::future<int> f = pool.submit(plus_one, 1);
  EXPECT_TRUE(f.valid());
  EXPECT_EQ(f.get(), 2);
  EXPECT_FALSE(f.valid());
  EXPECT_FALSE(nopal::future<int>{}.valid());
}

/// Appends its name to `order` when it goes.
struct leaves {
  std::string* order;
  char name;
  leaves(std::string& o, char n) : order{&o}, name{n} {}
  leaves(leaves&& other) noexcept : order{std::exchange(other.order, nullptr)}, name{other.name} {}
  ~leaves() {
    if (order != nullptr) *order += name;
  }
};
TEST(future, a_result_that_nobody_takes_goes_before_what_its_job_called) {
  std::string order;
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {  // so that the job's worker has let go of it when the wait is over
    nopal::future<leaves> f =
        pool.submit([&order, closure = leaves{order, 'c'}](leaves) { return leaves{order, 'r'}; }, leaves{order, 'a'});
    nopal::shared_future<leaves> const shared = std::move(f);
    auto const next = pool.submit(nopal::after(shared), [&order, closure = leaves{order, 'C'}] { return leaves{order, 'R'}; });
    next.wait();
  });
  EXPECT_EQ(order, "aRCrc");
}

TEST(future, tells_whether_it_is_ready) {
  nopal::pool pool{{.workers = 1}};
  std::atomic<bool> go{false};
  auto f = pool.submit([&go] {
    while (!go) std::this_thread::yield();
    return 5;
  });
  EXPECT_FALSE(f.ready());
  EXPECT_FALSE(f.wait_for(2ms));
  EXPECT_FALSE(f.wait_for(0s));
  go = true;
  f.wait();
  EXPECT_TRUE(f.ready());
  EXPECT_TRUE(f.wait_for(0s));
  EXPECT_EQ(f.get(), 5);
}

TEST(future, wait_for_returns_when_the_result_is_there) {
  nopal::pool pool{{.workers = 1}};
  auto f = pool.submit([] { std::this_thread::sleep_for(5ms); });
  auto const start = std::chrono::steady_clock::now();
  EXPECT_TRUE(f.wait_for(1min));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  f.get();
}

TEST(future, rethrows) {
  nopal::pool pool{{.workers = 1}};
  auto f = pool.submit([]() -> task<int> {
    throw std::runtime_error{"no"};
    co_return 1;
  });
  f.wait();
  EXPECT_THROW(f.get(), std::runtime_error);
  EXPECT_FALSE(f.valid());
}

task<std::unique_ptr<int>> make(int n) { co_return std::make_unique<int>(n); }
task<int const&> refer(int const& n) { co_return n; }
struct no_default {
  explicit no_default(int n) : value{n} {}
  int value;
};

TEST(future, carries_any_kind_of_result) {
  nopal::pool pool{{.workers = 2}};
  int const n = 4;
  EXPECT_EQ(*pool.submit(make, 3).get(), 3);
  EXPECT_EQ(&pool.submit(refer, n).get(), &n);
  EXPECT_EQ(pool.submit([]() -> task<no_default> { co_return no_default{5}; }).get().value, 5);
  EXPECT_EQ(pool.submit([] { return std::string(100, 'x'); }).get(), std::string(100, 'x'));
}

TEST(future, may_be_dropped_before_its_job_runs) {
  std::atomic<int> ran{0};
  auto const token = std::make_shared<int>(0);
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 100; ++k) {
      (void)pool.submit([&ran, token] {
        ++ran;
        return std::string(100, 'x');
      });
    }
  }
  EXPECT_EQ(ran.load(), 100);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(future, may_outlive_its_pool_once_ready) {
  nopal::future<int> f;
  {
    nopal::pool pool{{.workers = 2}};
    f = pool.submit(plus_one, 1);
  }
  EXPECT_TRUE(f.ready());
}

TEST(future, is_waited_for_by_any_thread) {
  nopal::pool pool{{.workers = 1}};
  std::atomic<bool> go{false};
  auto f = pool.submit([&go] {
    while (!go) std::this_thread::yield();
    return 7;
  });
  int result = 0;
  std::thread other{[&result, g = std::move(f)]() mutable { result = g.get(); }};
  go = true;
  other.join();
  EXPECT_EQ(result, 7);
}

}  // namespace
