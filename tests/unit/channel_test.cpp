// Values pass through a channel once each, in order, from any sender to any receiver.

#include "nopal/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::channel;
using nopal::counter;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_some_pools;

TEST(channel_test, first_in_first_out) {
  channel<int> ch{3};
  EXPECT_EQ(ch.capacity(), 3u);
  EXPECT_FALSE(ch.try_pop());
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(ch.try_push(round));
    EXPECT_TRUE(ch.push(round + 10));
    EXPECT_EQ(ch.pop(), round);
    EXPECT_EQ(ch.try_pop(), round + 10);
  }
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(ch.try_push(k));
  EXPECT_FALSE(ch.try_push(3));
  ch.close();
  ch.close();
  EXPECT_FALSE(ch.try_push(3));
  EXPECT_FALSE(ch.push(3));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(ch.pop(), k);
  EXPECT_EQ(ch.pop(), std::nullopt);
  EXPECT_EQ(ch.try_pop(), std::nullopt);
}

TEST(channel_test, what_only_moves) {
  channel<std::unique_ptr<int>> ch{1};
  auto one = std::make_unique<int>(1), two = std::make_unique<int>(2);
  ch.push(std::move(one));
  EXPECT_FALSE(ch.try_push(std::move(two)));
  ASSERT_NE(two, nullptr);  // NOLINT(bugprone-use-after-move): it was not pushed
  EXPECT_EQ(**ch.pop(), 1);
  EXPECT_TRUE(ch.try_push(std::move(two)));
  ch.close();
  auto three = std::make_unique<int>(3);
  EXPECT_FALSE(ch.push(std::move(three)));
  EXPECT_NE(three, nullptr);  // NOLINT(bugprone-use-after-move): it was not pushed
}  // and the destructor has 2

TEST(channel_test, many_to_many) {
  on_some_pools([](nopal::pool& pool) {
    for (std::size_t const capacity : {1u, 7u, 1000u}) {
      channel<long> ch{capacity};
      long const each = test::scaled(1000);
      std::atomic<long> sum{0}, popped{0};
      counter producers{6};
      auto const produce = [&] {
        for (long k = 1; k <= each; ++k) ch.push(k);
        producers.done();
      };
      auto const consume = [&] {
        while (auto const v = ch.pop()) {
          sum += *v;
          ++popped;
        }
      };
      auto const consume_in_a_task = [](auto f) -> task<void> {
        co_await nopal::fork([]() -> task<void> { co_return; });
        f();
        co_await nopal::join;
      };
      std::thread one{produce}, two{consume};
      auto t = pool.submit(consume_in_a_task, consume);
      pool.run([&] {
        counter left;
        for (int k = 0; k < 5; ++k) {
          spawn(left, consume);
          spawn(left, produce);
        }
        wait_for(producers);
        ch.close();
        wait_for(left);
      });
      t.get();
      one.join();
      two.join();
      EXPECT_EQ(popped, 6 * each);
      EXPECT_EQ(sum, 6 * each * (each + 1) / 2);
    }
  });
}

TEST(channel_test, each_producer_is_heard_in_order) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      channel<std::pair<int, long>> ch{5};
      counter left;
      for (int p = 0; p < 3; ++p) {
        spawn(left, [&, p] {
          for (long k = 0; k < 100; ++k) ch.push({p, k});
        });
      }
      std::vector<long> next(3);
      for (int k = 0; k < 300; ++k) {
        auto const v = ch.pop();
        EXPECT_EQ(v->second, next[static_cast<std::size_t>(v->first)]++);
      }
      wait_for(left);
    });
  });
}

TEST(channel_test, closing_wakes_all) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> empty{2}, full{1};
    full.push(7);
    std::atomic<int> nothing{0}, closed{0};
    auto const pop = [&] { nothing += empty.pop() ? 0 : 1; };
    auto const push = [&] { closed += full.push(8) ? 0 : 1; };
    std::thread one{pop}, two{push};
    counter left;
    for (int k = 0; k < 5; ++k) {
      spawn(left, pop);
      spawn(left, push);
    }
    auto f = pool.submit([&] { nopal::parallel_invoke(pop, push); });
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(nothing, 0);
    EXPECT_EQ(closed, 0);
    empty.close();
    full.close();
    wait_for(left);
    f.get();
    one.join();
    two.join();
    EXPECT_EQ(nothing, 7);
    EXPECT_EQ(closed, 7);
    EXPECT_EQ(full.pop(), 7);
    EXPECT_EQ(full.pop(), std::nullopt);
  });
}

// Moves and copies may throw.
struct brittle {
  int value = 0;
  bool* breaks;
  brittle(int v, bool* b) : value{v}, breaks{b} {}
  brittle(brittle const& other) : value{other.value}, breaks{other.breaks} {
    if (*breaks) throw std::runtime_error{"broke"};
  }
  brittle& operator=(brittle const&) = delete;
  ~brittle() = default;
};

TEST(channel_test, exceptions_leave_it_usable) {
  bool breaks = false;
  channel<brittle> ch{2};
  brittle const one{1, &breaks}, two{2, &breaks};
  ch.push(one);
  breaks = true;
  EXPECT_THROW(ch.push(two), std::runtime_error);
  EXPECT_THROW(ch.try_push(two), std::runtime_error);
  EXPECT_THROW(ch.pop(), std::runtime_error);
  EXPECT_THROW(ch.try_pop(), std::runtime_error);
  breaks = false;
  ch.push(two);
  EXPECT_FALSE(ch.try_push(two));
  EXPECT_EQ(ch.pop()->value, 1);
  EXPECT_EQ(ch.pop()->value, 2);
  EXPECT_FALSE(ch.try_pop());
}

// The receiver of the last value may destroy the channel, though the push has not returned yet.
TEST(channel_test, the_last_to_pop_may_destroy_it) {
  on_some_pools([](nopal::pool& pool) {
    for (long k = 0; k < test::scaled(500); ++k) {
      auto ch = std::make_unique<channel<long>>(1u);
      auto& there = *ch;
      pool.detach([&there, k] { there.push(k); });
      EXPECT_EQ(ch->pop(), k);
    }
  });
}

TEST(channel_test, wrong_capacities_throw) {
  EXPECT_THROW(channel<int>{std::size_t{0}}, std::invalid_argument);
  EXPECT_THROW(channel<int>{static_cast<std::size_t>(-1)}, std::length_error);
}

TEST(channel_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run([] {
          std::optional<channel<int>> ch{std::in_place, 1u};
          bool begun = false;
          spawn([&] {
            begun = true;
            static_cast<void>(ch->pop());
          });
          while (!begun) nopal::yield();
          ch.reset();
        });
      },
      "nopal: a channel was destroyed while a fiber, task or thread waits in its push or pop");
}

}  // namespace
