// Counters: waits end when the value is low enough.

#include "nopal/counter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "../on_pools.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_lazy_and_busy_pools;

TEST(counter_test, counts_up_and_down) {
  counter c{3};
  EXPECT_EQ(c.load(), 3);
  c.add(2);
  c.done(4);
  EXPECT_EQ(c.load(), 1);
  wait_for(c, 1);
  c.done(3);
  EXPECT_EQ(c.load(), -2);
  wait_for(c);
}

TEST(counter_test, what_is_counted_down_by_add_wakes_as_well) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    pool.run([] {
      counter c{5}, left;
      bool woken = false;
      spawn(left, [&] {
        wait_for(c, 2);
        woken = true;
      });
      nopal::yield();
      c.add(-3);
      wait_for(left);
      EXPECT_TRUE(woken);
      c.done(-4);
      EXPECT_EQ(c.load(), 6);
      c.add(-6);
    });
  });
}

TEST(counter_test, refuses_what_it_cannot_count) {
  static_assert(std::is_nothrow_default_constructible_v<counter>);
  constexpr std::int64_t max = counter::max();
  counter highest{max};
  EXPECT_EQ(highest.load(), max);
  highest.add(-max);
  highest.add(max);
  highest.done(max);
  highest.done(-max);
  highest.done(max);
  EXPECT_EQ(highest.load(), 0);
  EXPECT_EQ(counter{-max}.load(), -max);
  counter c;
  for (std::int64_t const n : {max + 1, -max - 1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THROW(counter{n}, std::invalid_argument) << n;
    EXPECT_THROW(c.done(n), std::invalid_argument) << n;
    try {
      c.add(n);
      ADD_FAILURE() << n;
    } catch (std::invalid_argument const& e) {
      std::string const said = "counter::add(n) with n = " + std::to_string(n) + ": a counter counts by -288230376151711744 to ";
      EXPECT_NE(std::string{e.what()}.find(said), std::string::npos) << e.what();
    }
    EXPECT_EQ(c.load(), 0) << n;
  }
}

TEST(counter_test, each_waiter_has_its_value) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    pool.run([] {
      counter c{10}, left;
      std::atomic<long> at_five{99}, at_zero{99};
      spawn(left, [&] {
        wait_for(c, 5);
        at_five = c.load();
      });
      spawn(left, [&] {
        wait_for(c);
        at_zero = c.load();
      });
      for (int k = 0; k < 5; ++k) {
        c.done();
        nopal::yield();
      }
      wait_for(left, 1);
      EXPECT_EQ(at_five, 5);
      EXPECT_EQ(at_zero, 99);
      c.done(5);
      wait_for(left);
      EXPECT_EQ(at_zero, 0);
    });
  });
}

TEST(counter_test, anyone_may_wait) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    counter go{1}, left{4};
    auto const in_a_task = [](counter& g, counter& l) -> task<void> {
      long x = 0;
      co_await nopal::fork(&x, [](long y) -> task<long> { co_return y; }, 1L);
      co_await g.reaches(0);
      co_await nopal::join;
      l.done(static_cast<int>(x));
    };
    pool.detach(in_a_task, go, left);
    pool.detach([&] {
      nopal::parallel_invoke([&] { wait_for(go); }, [&] { left.done(); });
      left.done();
    });
    std::thread outside{[&] {
      wait_for(go);
      left.done();
    }};
    std::this_thread::sleep_for(1ms);
    go.done();
    wait_for(left);
    outside.join();
  });
}

TEST(counter_test, waits_with_a_time_limit) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    auto const waits = [] {
      counter never{1}, soon{1}, left;
      auto const begin = std::chrono::steady_clock::now();
      EXPECT_FALSE(wait_for(never, 0, 5ms));
      EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms);
      EXPECT_TRUE(wait_for(never, 1, 0ms));
      EXPECT_FALSE(wait_for(never, 0, -1ms));
      spawn(left, [&] {
        nopal::sleep_for(2ms);
        soon.done();
      });
      EXPECT_TRUE(wait_for(soon, 0, 10s));
      soon.add();
      spawn(left, [&] {
        nopal::sleep_for(2ms);
        soon.done();
      });
      EXPECT_TRUE(wait_for(soon, 0, std::chrono::hours::max()));  // longer than the clock can say
      EXPECT_FALSE(wait_for(never, 0, std::chrono::hours::min()));
      wait_for(left);
      never.done();
    };
    pool.run(waits);
    waits();
  });
}

TEST(counter_test, an_exception_comes_out_of_the_wait_once) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    pool.run([] {
      counter left;
      std::atomic<int> ran{0};
      for (int k = 0; k < 10; ++k) {
        spawn(left, [&ran, k] {
          ++ran;
          if (k % 2 == 0) throw std::runtime_error{"even"};
        });
      }
      EXPECT_THROW(wait_for(left), std::runtime_error);
      EXPECT_EQ(ran, 10);
      wait_for(left);
    });
  });
}

}  // namespace
