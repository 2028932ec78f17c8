// A function runs once on any caller, and callers that wait for it do not keep their workers from running it to its end.

#include "nopal/call_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../on_pools.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call_once;
using nopal::counter;
using nopal::once_flag;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_some_pools;

constinit once_flag global;  // made when the program is loaded
static_assert(std::is_trivially_destructible_v<once_flag>);
static_assert(!std::is_copy_constructible_v<once_flag> && !std::is_copy_assignable_v<once_flag>);

TEST(call_once, calls_with_its_arguments_once) {
  int calls = 0, sum = 0;
  auto const add = [&](int a, std::unique_ptr<int> b) {
    ++calls;
    sum += a + *b;
    return sum;  // which is dropped
  };
  for (int k = 0; k < 3; ++k) call_once(global, add, 1, std::make_unique<int>(2));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sum, 3);
  struct number {
    int value = 1;
    void set(int v) { value = v; }
  } n;
  once_flag flag;
  call_once(flag, &number::set, n, 5);
  call_once(flag, &number::set, n, 6);
  EXPECT_EQ(n.value, 5);
}

TEST(call_once, whoever_comes_sees_what_it_made) {
  on_some_pools([](nopal::pool& pool) {
    for (int round = 0; round < 50; ++round) {
      once_flag flag;
      int calls = 0;
      long made = 0;  // read without a lock: call_once orders it
      std::atomic<int> right{0};
      auto const use = [&] {
        call_once(flag, [&] {
          ++calls;
          nopal::yield();
          nopal::parallel_invoke([&] { made += 40; }, [] { nopal::yield(); });
          made += 2;
        });
        right += made == 42 ? 1 : 0;
      };
      auto const use_in_a_task = [](auto f) -> task<void> {
        f();
        co_return;
      };
      std::thread one{use}, two{use};
      auto t = pool.submit(use_in_a_task, use);
      pool.run([&] {
        counter left;
        for (int k = 0; k < 5; ++k) spawn(left, use);
        nopal::parallel_invoke(use, use);
        wait_for(left);
      });
      t.get();
      one.join();
      two.join();
      EXPECT_EQ(calls, 1);
      EXPECT_EQ(right, 10);
    }
  });
}

// The function waits for a fiber that this worker runs after another caller of the same flag: with std::call_once, or a static variable,
// the worker's thread would sleep there for ever.
TEST(call_once, a_function_that_waits_does_not_keep_its_worker) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    once_flag flag;
    counter ready{1}, left;
    int calls = 0;
    auto const use = [&] {
      call_once(flag, [&] {
        ++calls;
        wait_for(ready);
      });
    };
    for (int k = 0; k < 3; ++k) spawn(left, use);
    nopal::yield();  // one waits in the function, and two for it
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(left.load(), 3);
    ready.done();
    wait_for(left);
    EXPECT_EQ(calls, 1);
  });
}

TEST(call_once, one_that_throws_leaves_it_to_the_next) {
  on_some_pools([](nopal::pool& pool) {
    once_flag flag;
    std::atomic<int> calls{0}, thrown{0}, returned{0};
    auto const use = [&] {
      try {
        call_once(flag, [&] {
          int const n = ++calls;
          nopal::yield();
          if (n < 4) throw std::runtime_error{"not yet"};
        });
        ++returned;
      } catch (std::runtime_error const&) {
        ++thrown;
      }
    };
    std::thread outside{use};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 7; ++k) spawn(left, use);
      wait_for(left);
    });
    outside.join();
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(thrown, 3);
    EXPECT_EQ(returned, 5);
  });
}

TEST(call_once, calling_itself_throws_and_others_are_served) {
  once_flag flag;
  int calls = 0;
  auto const recursive = [&] {
    ++calls;
    call_once(flag, [] {});
  };
  auto const code_of = [&] {
    try {
      call_once(flag, recursive);
    } catch (std::system_error const& e) {
      return std::errc{e.code().value()};
    }
    return std::errc{};
  };
  EXPECT_EQ(code_of(), std::errc::resource_deadlock_would_occur);
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(pool.run(code_of), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(calls, 2);
  pool.run([&] { call_once(flag, [&] { ++calls; }); });
  EXPECT_EQ(calls, 3);
}

}  // namespace
