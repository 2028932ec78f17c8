// How a channel ends: which calls report the end, and a failure; loops over a channel; time limits; values that cannot be copied, throw, or
// are aligned to more than new gives.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../on_pools.hpp"
#include "nopal/channel.hpp"
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

std::exception_ptr failure(char const* what) { return std::make_exception_ptr(std::runtime_error{what}); }

// What a call has thrown; null if nothing.
template <class F>
std::string thrown_by(F f) {
  try {
    static_cast<void>(f());
  } catch (std::exception const& e) {
    return e.what();
  }
  return {};
}

static_assert(std::ranges::input_range<channel<int>>);

TEST(channel_end, whoever_pops_what_is_left_gets_the_failure_after_it) {
  channel<int> ch{3};
  EXPECT_FALSE(ch.is_closed());
  EXPECT_TRUE(ch.push(1));
  EXPECT_TRUE(ch.push(2));
  ch.close(failure("stage 2"));
  EXPECT_TRUE(ch.is_closed());
  EXPECT_FALSE(ch.push(3));
  EXPECT_FALSE(ch.try_push(3));
  EXPECT_FALSE(ch.try_push_for(3, 1h));
  EXPECT_EQ(ch.pop(), 1);
  EXPECT_EQ(ch.try_pop(), 2);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(thrown_by([&] { return ch.pop(); }), "stage 2");
    EXPECT_EQ(thrown_by([&] { return ch.try_pop(); }), "stage 2");
    EXPECT_EQ(thrown_by([&] { return ch.try_pop_for(1h); }), "stage 2");
  }
}

TEST(channel_end, the_first_failure_is_kept) {
  channel<int> ch{1};
  ch.close();
  ch.close(nullptr);
  EXPECT_EQ(ch.pop(), std::nullopt);
  ch.close(failure("first"));
  ch.close(failure("second"));
  ch.close();
  EXPECT_EQ(thrown_by([&] { return ch.pop(); }), "first");
}

// Two stages and a source: the middle one throws. All end, and the last gets the exception.
TEST(channel_end, a_pipeline_whose_stage_threw_ends) {
  on_some_pools([](nopal::pool& pool) {
    for (int who = 0; who < 3; ++who) {
      SCOPED_TRACE(who);
      channel<int> in{2}, out{2};
      std::atomic<int> taken{0};
      std::string learnt;
      auto const source = [&] {
        while (in.push(taken)) ++taken;
      };
      auto const stage = [&] {
        try {
          for (int const v : in) {
            if (v == 10) throw std::runtime_error{"it was 10"};
            if (!out.push(v)) break;
          }
          out.close();
        } catch (...) {
          out.close(std::current_exception());
        }
        in.close();
      };
      auto const sink = [&] {
        int next = 0;
        learnt = thrown_by([&] {
          for (int const v : out) EXPECT_EQ(v, next++);
          return 0;
        });
        EXPECT_EQ(next, 10);
      };
      auto const in_a_task = [](auto f) -> task<void> {
        f();
        co_return;
      };
      if (who == 0) {
        std::thread a{source}, b{stage}, c{sink};
        a.join();
        b.join();
        c.join();
      } else if (who == 1) {
        pool.run([&] {
          counter left;
          spawn(left, source);
          spawn(left, stage);
          spawn(left, sink);
          wait_for(left);
        });
      } else {
        auto a = pool.submit(in_a_task, source);
        auto b = pool.submit(in_a_task, stage);
        auto c = pool.submit(in_a_task, sink);
        a.get();
        b.get();
        c.get();
      }
      EXPECT_EQ(learnt, "it was 10");
      EXPECT_GE(taken, 11);
    }
  });
}

TEST(channel_end, a_failure_wakes_all_that_wait) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> empty{1}, full{1};
    EXPECT_TRUE(full.push(7));
    std::atomic<int> learnt{0}, refused{0};
    auto const pop = [&] { learnt += thrown_by([&] { return empty.pop(); }) == "gone" ? 1 : 0; };
    auto const push = [&] { refused += full.push(8) ? 0 : 1; };
    std::thread one{pop}, two{push};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 5; ++k) {
        spawn(left, pop);
        spawn(left, push);
      }
      nopal::yield();
      empty.close(failure("gone"));
      full.close(failure("gone"));
      wait_for(left);
    });
    one.join();
    two.join();
    EXPECT_EQ(learnt, 6);
    EXPECT_EQ(refused, 6);
    EXPECT_EQ(full.pop(), 7);
  });
}

TEST(channel_end, a_loop_takes_each_value_once) {
  on_some_pools([](nopal::pool& pool) {
    channel<std::unique_ptr<long>> ch{4};
    std::atomic<long> sum{0};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 3; ++k) {
        spawn(left, [&] {
          for (auto& v : ch) sum += *std::exchange(v, nullptr);
        });
      }
      for (long k = 1; k <= 100; ++k) EXPECT_TRUE(ch.push(std::make_unique<long>(k)));
      ch.close();
      wait_for(left);
    });
    EXPECT_EQ(sum, 5050);
  });
}

TEST(channel_end, a_loop_over_const_iterators_and_by_hand) {
  channel<std::string> ch{4};
  for (char const* s : {"a", "bb", "ccc"}) EXPECT_TRUE(ch.push(s));
  ch.close();
  auto i = ch.begin();
  auto const& here = i;
  EXPECT_EQ(*here, "a");
  here->push_back('!');
  EXPECT_EQ(*i, "a!");
  i++;
  EXPECT_EQ(i->size(), 2u);
  ++i;
  EXPECT_EQ(*i, "ccc");
  EXPECT_NE(i, ch.end());
  EXPECT_EQ(++i, ch.end());
  EXPECT_EQ(ch.begin(), std::default_sentinel);
}

TEST(channel_end, time_limits) {
  on_some_pools([](nopal::pool& pool) {
    channel<int> ch{1};
    auto const all = [&] {
      EXPECT_EQ(ch.try_pop_for(1ms), std::nullopt);
      EXPECT_EQ(ch.try_pop_for(-1h), std::nullopt);
      EXPECT_EQ(ch.try_pop_until(std::chrono::steady_clock::now() + 1ms), std::nullopt);
      EXPECT_EQ(ch.try_pop_until(std::chrono::system_clock::now() + 1ms), std::nullopt);
      EXPECT_FALSE(ch.is_closed());
      int const kept = 2;
      EXPECT_TRUE(ch.try_push_for(1, 0ms));
      EXPECT_FALSE(ch.try_push_for(kept, 1ms));
      EXPECT_FALSE(ch.try_push_for(2, std::chrono::duration<double>{-1}));
      EXPECT_FALSE(ch.try_push_until(kept, std::chrono::steady_clock::now() + 1ms));
      EXPECT_FALSE(ch.try_push_until(2, std::chrono::system_clock::time_point::min()));
      EXPECT_EQ(ch.try_pop_for(0ms), 1);
    };
    all();
    pool.run(all);
    // A wait that ends before its limit, which is never reached.
    counter left;
    spawn(left, [&] { EXPECT_EQ(ch.try_pop_for(std::chrono::hours::max()), 5); });
    EXPECT_TRUE(ch.push(5));
    wait_for(left);
    EXPECT_TRUE(ch.push(6));
    spawn(left, [&] { EXPECT_TRUE(ch.try_push_until(7, std::chrono::system_clock::time_point::max())); });
    EXPECT_EQ(ch.pop(), 6);
    wait_for(left);
    EXPECT_EQ(ch.pop(), 7);
    // An end before the limit; by a clock too, where a closed channel must not be tried again until the limit.
    spawn(left, [&] { EXPECT_EQ(ch.try_pop_until(std::chrono::system_clock::now() + 24h), std::nullopt); });
    ch.close();
    wait_for(left);
    EXPECT_FALSE(ch.try_push_until(8, std::chrono::system_clock::now() + 24h));
  });
}

// A value's move throws while `breaks` is set; and all of a channel's memory is aligned as the type requires.
struct alignas(256) brittle {
  int value;
  std::atomic<int>* breaks;
  brittle(int v, std::atomic<int>* b) : value{v}, breaks{b} {}
  brittle(brittle&& other) : value{other.value}, breaks{other.breaks} {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % 256, 0u);
    int left = *breaks;
    while (left > 0 && !breaks->compare_exchange_weak(left, left - 1)) {
    }
    if (left > 0) throw std::runtime_error{"broke"};
  }
  brittle& operator=(brittle&&) = delete;
  ~brittle() = default;
};

TEST(channel_end, a_loop_needs_no_assignment) {
  std::atomic<int> breaks{0};
  channel<brittle> ch{2};
  EXPECT_TRUE(ch.push({1, &breaks}));
  EXPECT_TRUE(ch.push({2, &breaks}));
  ch.close();
  int next = 1;
  for (brittle& b : ch) EXPECT_EQ(b.value, next++);
  EXPECT_EQ(next, 3);
}

// A waiter is woken for a value, and the move then throws: the next waiter must get the value.
TEST(channel_end, a_pop_that_throws_leaves_its_value_to_the_next_that_waits) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    std::atomic<int> breaks{0};
    int broke = 0, popped = 0;
    channel<brittle> ch{1};
    counter left;
    for (int k = 0; k < 2; ++k) {
      spawn(left, [&] {
        try {
          popped += ch.pop() ? 1 : 0;
        } catch (std::runtime_error const&) {
          ++broke;
        }
      });
    }
    nopal::yield();  // both wait
    EXPECT_TRUE(ch.push({1, &breaks}));
    breaks = 1;
    wait_for(left);
    EXPECT_EQ(broke, 1);
    EXPECT_EQ(popped, 1);
  });
}

TEST(channel_end, a_push_that_throws_leaves_its_room_to_the_next_that_waits) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    std::atomic<int> breaks{0};
    int broke = 0, pushed = 0;
    channel<brittle> ch{1};
    EXPECT_TRUE(ch.push({0, &breaks}));
    counter left;
    for (int k = 0; k < 2; ++k) {
      spawn(left, [&] {
        try {
          pushed += ch.push({1, &breaks}) ? 1 : 0;
        } catch (std::runtime_error const&) {
          ++broke;
        }
      });
    }
    nopal::yield();  // both wait
    EXPECT_EQ(ch.pop()->value, 0);
    breaks = 1;
    wait_for(left);
    EXPECT_EQ(broke, 1);
    EXPECT_EQ(pushed, 1);
    EXPECT_EQ(ch.pop()->value, 1);
  });
}

}  // namespace
