// co_await of futures: results, exceptions, and where the task has forked.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "../fib.hpp"
#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::task;
using test::fib_task;
using test::number_thrown;
using test::numbered;
using test::on_lazy_and_busy_pools;

struct counted {
  static inline int copies = 0;
  explicit counted(int n) : value{n} {}
  counted(counted const& o) : value{o.value} { ++copies; }
  counted(counted&& o) noexcept : value{std::exchange(o.value, 0)} {}
  int value;
};

TEST(future_await_test, gives_any_kind_of_result_once) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    int const n = 4;
    pool.run([&]() -> task<> {
      EXPECT_EQ(co_await pool.submit([] { return 1; }), 1);
      auto f = pool.submit([] { return std::make_unique<int>(3); });
      std::unique_ptr<int> const p = co_await f;
      EXPECT_EQ(*p, 3);
      EXPECT_FALSE(f.valid());
      auto g = pool.submit([] { return std::string(100, 'x'); });
      std::string const s = co_await std::move(g);
      EXPECT_EQ(s, std::string(100, 'x'));
      EXPECT_FALSE(g.valid());  // NOLINT(bugprone-use-after-move): taken
      auto r = pool.submit([&n]() -> int const& { return n; });
      static_assert(std::is_same_v<decltype(r), nopal::future<int const&>>);
      EXPECT_EQ(&co_await r, &n);
      bool ran = false;
      co_await pool.submit([&] { ran = true; });
      EXPECT_TRUE(ran);
      EXPECT_EQ((co_await pool.submit([] { return counted{6}; })).value, 6);
      EXPECT_EQ((co_await pool.submit([]() -> task<counted> { co_return counted{7}; })).value, 7);
    });
  });
  EXPECT_EQ(counted::copies, 0);
}

TEST(future_await_test, leaves_its_worker_to_others) {
  nopal::pool pool{{.workers = 1}};
  auto const await_one = [&]() -> task<int> { co_return co_await pool.submit([] { return 1; }); };
  EXPECT_EQ(pool.submit(await_one).get(), 1);
  auto const await_two = [&]() -> task<int> { co_return co_await pool.submit(await_one) + 1; };
  EXPECT_EQ(pool.submit(await_two).get(), 2);
}

TEST(future_await_test, rethrows) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    EXPECT_EQ(number_thrown(pool, [&]() -> task<> { co_await pool.submit([] { throw numbered{4}; }); }), 4);
    EXPECT_EQ(pool.run([&]() -> task<int> {
      auto f = pool.submit([]() -> task<int> {
        throw numbered{5};
        co_return 0;
      });
      try {
        co_return co_await f;
      } catch (numbered const& e) {
        EXPECT_FALSE(f.valid());
        co_return e.number;
      }
    }),
              5);
  });
}

TEST(future_await_test, between_fork_and_join) {
  auto const mixed = [](nopal::pool& pool, long n) -> task<long> {
    long a = 0, b = 0;
    auto f = pool.submit(fib_task, n);
    co_await nopal::fork(&a, fib_task, n);
    long const c = co_await f;
    co_await nopal::fork(&b, fib_task, n);
    long const d = co_await pool.submit(fib_task, n);
    co_await nopal::join;
    co_return a + b + c + d;
  };
  on_lazy_and_busy_pools([&](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(60); ++k) ASSERT_EQ(pool.run(mixed, pool, 8L), 4 * 21);
  });
}

task<> throws(int n) {
  throw numbered{n};
  co_return;
}
task<> ends_late(std::atomic<int>& ended) {
  std::this_thread::sleep_for(2ms);
  ++ended;
  co_return;
}

// The exceptions of a scope are thrown in the order of serial execution, and never while a child runs.
TEST(future_await_test, between_fork_and_join_it_throws_when_the_children_have_ended) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(20); ++k) {
      std::atomic<int> ended{0};
      EXPECT_EQ(pool.run([&]() -> task<int> {
        int n = 0;
        co_await nopal::fork(ends_late, ended);
        auto f = pool.submit([] { throw numbered{6}; });
        try {
          co_await f;
        } catch (numbered const& e) {
          n = e.number;
          EXPECT_EQ(ended, 1);
          EXPECT_FALSE(f.valid());
        }
        co_await nopal::fork(ends_late, ended);
        try {
          nopal::future<int> empty;
          co_await empty;
        } catch (std::logic_error const&) {
          n += 10;
          EXPECT_EQ(ended, 2);
        }
        co_await nopal::fork(ends_late, ended);
        co_await nopal::join;
        co_return n + 100 * ended;
      }),
                316);
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                co_await nopal::fork(throws, 1);
                                co_await pool.submit([] { throw numbered{2}; });
                                co_await nopal::join;
                              }),
                1);
      // Uncaught, the task ends with it, and not the program.
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                co_await nopal::fork(ends_late, ended);
                                co_await pool.submit([] { throw numbered{2}; });
                                co_await nopal::join;
                              }),
                2);
      EXPECT_EQ(ended, 4);
    }
  });
}

TEST(future_await_test, what_a_counter_rethrows_between_fork_and_join_waits_for_the_children_too) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(20); ++k) {
      std::atomic<int> ended{0};
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                nopal::counter left;
                                co_await nopal::fork(ends_late, ended);
                                nopal::spawn(left, [] { throw numbered{3}; });
                                co_await left.reaches(0);
                                co_await nopal::join;
                              }),
                3);
      EXPECT_EQ(ended, 1);
    }
  });
}

}  // namespace
