// Functions that fork and join on a stack which nopal did not make: the program switched to it, as with ucontext or Boost.Context, from a
// native stack of nopal.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "../fib.hpp"
#include "../meeting.hpp"
#include "../scale.hpp"
#include "../this_thread.hpp"
#include "foreign_stack.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/native.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::parallel_invoke;
using nopal::sync_wait;
using nopal::task;
using test::fib_task;
using test::foreign_stack;
using test::kib;
using test::on_both_sides;
using test::page;
using test::side;
using test::this_thread;
using test::native::fib;

/// Ends when `flag` is set; until then the worker does nothing else.
void await(std::atomic<bool> const& flag) {
  while (!flag) std::this_thread::yield();
}

/// A join that has to wait: the second half is stolen, and still runs when the first has ended. Then the stack continues where the second
/// has ended, on another thread. On a slow machine the second may end first: so this repeats until the stack has moved.
[[gnu::noinline]] void join_that_waits() {
  for (int k = 0; k < 100; ++k) {
    std::atomic<bool> begun{false};
    bool ended = false;
    auto const before = this_thread();
    parallel_invoke([&] { await(begun); },
                    [&] {
                      EXPECT_NE(this_thread(), before);
                      begun = true;
                      std::this_thread::sleep_for(std::chrono::milliseconds{5});
                      ended = true;
                    });
    EXPECT_TRUE(ended);
    if (this_thread() != before) return;
  }
  ADD_FAILURE() << "the stack never moved";
}

long scope_fib(long n) {
  if (n < 2) return n;
  long a = 0;
  nopal::scope s;
  s.fork([&a, n] { a = scope_fib(n - 1); });
  long const b = scope_fib(n - 2);
  s.join();
  return a + b;
}

TEST(foreign_stack, pool_gives_back_nothing_of_what_is_not_its_own) {
  nopal::core::stack_pool pool{256 * kib, nopal::reclaim::dontneed, 4};
  nopal::core::stack* const s = pool.get();
  ASSERT_NE(s, nullptr);
  std::fill(s->low(), s->top(), std::byte{1});
  std::byte* const end = s->base() + s->mapped();
  for (std::byte* const sp : {s->base() - 1, s->base() - (std::ptrdiff_t{64} << 20), end, end + 1, end + (std::ptrdiff_t{64} << 20)}) {
    pool.give_back_below(*s, sp);
    EXPECT_EQ(pool.counts().unmaps, 0u);
  }
  // Within it, but with no frame below.
  for (std::ptrdiff_t const room : {0, 1, 127, 128, 129}) {
    pool.give_back_below(*s, s->low() + room);
    EXPECT_EQ(pool.counts().unmaps, 0u);
  }
  EXPECT_EQ(std::count(s->low(), s->top(), std::byte{1}), s->top() - s->low());
  pool.give_back_below(*s, s->low() + static_cast<std::ptrdiff_t>(3 * page()) + 128);
  EXPECT_EQ(pool.counts().pages_returned, 3u);
  pool.put(s);
}

TEST(foreign_stack, a_join_on_it_leaves_all_memory_as_it_is_and_goes_on_elsewhere) {
  nopal::pool pool{{.workers = 2}};
  on_both_sides(pool, [](side s) {
    for (std::size_t const bytes : {64 * kib, 1024 * kib}) {
      foreign_stack f{s, bytes};
      for (int k = 0; k < 5; ++k) {
        f.run([&] {
          EXPECT_TRUE(f.holds(nopal::core::stack_pointer()));
          join_that_waits();
          EXPECT_TRUE(f.holds(nopal::core::stack_pointer()));
        });
      }
      EXPECT_TRUE(f.is_intact());
    }
  });
}

[[gnu::noinline]] void use_much_of_the_stack() {
  std::byte volatile used[128 * kib];
  for (std::size_t k = 0; k < sizeof used; k += sizeof(std::uint64_t)) used[k] = std::byte{1};  // each word: the high-water mark is one
}

TEST(foreign_stack, pages_go_back_again_once_its_owner_has_returned) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    foreign_stack f{side::above};
    f.run(join_that_waits);
  });
  auto const before = pool.stats().pages_returned;
  pool.run([] {
    use_much_of_the_stack();
    join_that_waits();
  });
  if (!test::sanitized) {
    EXPECT_GT(pool.stats().pages_returned, before);
  }
}

TEST(foreign_stack, forks_on_it_run_in_parallel) {
  nopal::pool pool{{.workers = 4}};
  on_both_sides(pool, [](side s) {
    foreign_stack f{s};
    test::meeting four{4};
    f.run([&] {
      auto const leaf = [&] { four.attend(); };
      parallel_invoke([&] { parallel_invoke(leaf, leaf); }, [&] { parallel_invoke(leaf, leaf); });
    });
    EXPECT_TRUE(four.took_place());
    test::meeting four_more{4};
    f.run([&] {
      nopal::scope all;
      for (int k = 0; k < 3; ++k) all.fork([&] { four_more.attend(); });
      four_more.attend();
      all.join();
    });
    EXPECT_TRUE(four_more.took_place());
    EXPECT_TRUE(f.is_intact());
  });
}

TEST(foreign_stack, nested_forks_on_it_are_as_fast_as_elsewhere) {
  nopal::pool pool{{.workers = 1}};
  on_both_sides(pool, [&](side s) {
    auto const before = pool.stats().serial_forks;
    foreign_stack f{s, 256 * kib};
    f.run([] { EXPECT_EQ(fib(15), 610); });
    f.run([] { EXPECT_EQ(scope_fib(12), 144); });
    EXPECT_EQ(pool.stats().serial_forks, before);
  });
}

TEST(foreign_stack, exceptions_pass) {
  nopal::pool pool{{.workers = 3}};
  on_both_sides(pool, [](side s) {
    foreign_stack f{s};
    f.run([] {  // caught there
      try {
        parallel_invoke([] { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }, [] { throw std::runtime_error{"second"}; });
        ADD_FAILURE();
      } catch (std::runtime_error const& e) {
        EXPECT_STREQ(e.what(), "second");
        try {  // while another is being handled
          join_that_waits();
          throw;
        } catch (std::runtime_error const& again) {
          EXPECT_EQ(&again, &e);
        }
      }
    });
    EXPECT_THROW(f.run([] {
      nopal::scope all;
      all.fork([] { throw std::logic_error{"child"}; });
      join_that_waits();
      all.join();
    }),
                 std::logic_error);
    EXPECT_THROW(f.run([] {
      sync_wait([]() -> task<> {
        throw std::out_of_range{"task"};
        co_return;
      });
    }),
                 std::out_of_range);
    EXPECT_TRUE(f.is_intact());
  });
}

/// Forks, and enters stacks above and below in turn, as far down as `n` says.
long fib_everywhere(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  auto const left = [&] {
    if (n % 3 != 0) {
      a = fib_everywhere(n - 1);
      return;
    }
    foreign_stack f{n % 2 == 0 ? side::above : side::below, 128 * kib};
    f.run([&] { a = fib_everywhere(n - 1); });
    EXPECT_TRUE(f.is_intact());
  };
  if (n % 4 == 1) {
    nopal::scope s;
    s.fork(left);
    b = sync_wait([&]() -> task<long> { co_return co_await nopal::call(fib_task, n - 2); });
    s.join();
  } else {
    parallel_invoke(left, [&] { b = fib_everywhere(n - 2); });
  }
  return a + b;
}

TEST(foreign_stack, may_nest) {
  nopal::pool pool{{.workers = 3}};
  on_both_sides(pool, [](side s) {
    foreign_stack one{s};
    one.run([&] {
      for (side const t : {side::above, side::below}) {
        foreign_stack two{t};
        two.run([&] {
          join_that_waits();
          foreign_stack three{s};
          three.run([&] {
            join_that_waits();
            EXPECT_EQ(sync_wait(fib_task, 10L), 55);
          });
          EXPECT_TRUE(three.is_intact());
        });
        EXPECT_TRUE(two.is_intact());
      }
    });
    EXPECT_TRUE(one.is_intact());
  });
}

TEST(foreign_stack, may_come_and_go_in_a_whole_program) {
  for (auto const how : {nopal::reclaim::dontneed, nopal::reclaim::remap}) {
    nopal::pool pool{{.workers = 4, .reclaim = how}};
    for (long k = 0; k < test::scaled(20, 10); ++k) ASSERT_EQ(pool.run(fib_everywhere, 14L), 377);
  }
  for (auto const order : {nopal::schedule::steal_always, nopal::schedule::steal_at_random}) {
    nopal::pool pool{{.workers = 3, .seed = 7, .schedule = order}};
    for (long k = 0; k < test::scaled(3, 3); ++k) ASSERT_EQ(pool.run(fib_everywhere, 10L), 55);
  }
}

TEST(foreign_stack, a_caller_may_stand_on_one) {
  nopal::pool pool{{.workers = 2}};
  foreign_stack f{side::above, 256 * kib};
  f.run([&] {
    EXPECT_EQ(pool.run(fib, 12L), 144);
    EXPECT_EQ(pool.submit(fib, 12L).get(), 144);
  });
  EXPECT_TRUE(f.is_intact());
}

/// The number of `n` nested forks that have run.
long deep(long n) {
  if (n == 0) return 0;
  long below = 0;
  parallel_invoke([&] { below = deep(n - 1); }, [] {});
  return below + 1;
}

// What nests on stacks of nopal is bounded by their size. On a foreign stack below them forks check now and then whether there is room.
TEST(foreign_stack, forks_nest_as_deep_as_a_large_one_below_allows) {
  static constexpr long depth = test::sanitized ? 20'000 : 200'000;
  nopal::pool pool{{.workers = 2, .stack_size = 64 * kib}};
  pool.run([] {
    foreign_stack f{side::below, std::size_t{256} << 20};
    f.run([] { EXPECT_EQ(deep(depth), depth); });
    EXPECT_TRUE(f.is_intact());
  });
}

#if !defined(NOPAL_TEST_SANITIZED) && defined(NDEBUG)  // else push itself looks, or the sanitizer's own handler

// On one above them no fork checks once one of the function's forks has, unless a thief asks: or after a few short ones, for the mode.
TEST(foreign_stack_death, too_many_forks_on_a_large_one_above_end_with_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH((nopal::pool{{.workers = 1, .stack_size = 64 * kib}}.run([] {
                 foreign_stack f{side::above, std::size_t{256} << 20};
                 for (int i = 0; i < 10'000; ++i) EXPECT_EQ(fib(3), 2);
                 f.run([] { deep(200'000); });
               })),
               "more than [0-9]+ forks nest on worker 0, on a stack that the program made itself; .*pool_options::stack_size");
}

#endif

}  // namespace
