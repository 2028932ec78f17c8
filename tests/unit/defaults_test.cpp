// Defaults: the default pool's size, the pool that the caller works for, and the pool that a fiber is spawned on.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::task;

// ---- NOPAL_WORKERS. Each in a process of its own, which has no default pool yet.

/// Ends the process: with 0 if `f` returns true.
template <class F>
[[noreturn]] void with_workers(char const* value, F f) {
  ::setenv("NOPAL_WORKERS", value, 1);  // NOLINT(concurrency-mt-unsafe)
  std::_Exit(f() ? 0 : 1);
}
template <class Make>
bool refused(std::string const& value, Make make) {
  try {
    make();
    return false;
  } catch (std::invalid_argument const& e) {
    std::string const what = e.what();
    return what.find("nopal::pool: NOPAL_WORKERS = \"" + value + "\"") != std::string::npos && what.find("16384") != std::string::npos &&
           what.find("unset it") != std::string::npos;
  }
}

class nopal_workers_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

TEST_F(nopal_workers_test, sets_the_size_of_each_pool_that_does_not_say_it) {
  for (unsigned const n : {1u, 3u, 7u}) {
    EXPECT_EXIT(with_workers(std::to_string(n).c_str(),
                             [n] {
                               nopal::pool by_default, of_options{{.name = "mine"}};
                               return by_default.workers() == n && of_options.workers() == n && nopal::default_pool().workers() == n &&
                                      nopal::pool{{.workers = 2}}.workers() == 2;
                             }),
                testing::ExitedWithCode(0), "");
  }
}

TEST_F(nopal_workers_test, empty_or_0_is_as_if_unset) {
  for (char const* const text : {"", "0"}) {
    EXPECT_EXIT(with_workers(text,
                             [] {
                               unsigned const n = nopal::pool{}.workers();
                               ::unsetenv("NOPAL_WORKERS");  // NOLINT(concurrency-mt-unsafe)
                               return n == nopal::pool{}.workers() && nopal::default_pool().workers() == n;
                             }),
                testing::ExitedWithCode(0), "");
  }
}

TEST_F(nopal_workers_test, what_is_no_number_of_workers_is_refused_until_it_is_mended) {
  for (char const* const text : {"abc", "-1", "+4", " 4", "4 ", "4.5", "0x4", "16385", "4294967297", "99999999999999999999"}) {
    EXPECT_EXIT(with_workers(text,
                             [text] {
                               auto const by_default = [] { nopal::default_pool(); };
                               if (!refused(text, by_default) || !refused(text, by_default)) return false;
                               if (!refused(text, [] { nopal::pool const own; })) return false;
                               if (nopal::pool{{.workers = 3}}.workers() != 3) return false;  // it does not read NOPAL_WORKERS
                               try {
                                 nopal::parallel_invoke([] {}, [] {});  // which would make it
                                 return false;
                               } catch (std::invalid_argument const&) {
                               }
                               try {
                                 nopal::scope s;
                                 s.fork([] {});
                                 return false;
                               } catch (std::invalid_argument const&) {
                               }
                               ::setenv("NOPAL_WORKERS", "2", 1);  // NOLINT(concurrency-mt-unsafe)
                               return nopal::default_pool().workers() == 2;
                             }),
                testing::ExitedWithCode(0), "")
        << text;
  }
}

// ---- Which pool, which worker.

TEST(defaults_test, current_is_the_callers_pool) {
  nopal::pool one{{.workers = 1}}, two{{.workers = 2}};
  EXPECT_EQ(nopal::pool::current(), nullptr);
  EXPECT_EQ(one.run([] { return nopal::pool::current(); }), &one);
  EXPECT_EQ(two.submit([]() -> task<nopal::pool*> { co_return nopal::pool::current(); }).get(), &two);
  EXPECT_EQ(nopal::default_pool().run([] { return nopal::pool::current(); }), &nopal::default_pool());
  // One runs on the other, and a task moves.
  EXPECT_TRUE(one.run([&] { return two.run([] { return nopal::pool::current(); }) == &two && nopal::pool::current() == &one; }));
  EXPECT_TRUE(one.run([&]() -> task<bool> {
    co_await nopal::resume_on(two);
    bool const moved = nopal::pool::current() == &two;
    co_await nopal::resume_on(one);
    co_return moved&& nopal::pool::current() == &one;
  }));
  EXPECT_EQ(nopal::pool::current(), nullptr);
}

TEST(defaults_test, index_or_asks_without_an_exception) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(nopal::this_worker::index_or(77), 77u);
  EXPECT_THROW(nopal::this_worker::index(), std::logic_error);
  for (int k = 0; k < 20; ++k) {
    EXPECT_TRUE(pool.submit([] { return nopal::this_worker::index_or(77) == nopal::this_worker::index(); }).get());
  }
  EXPECT_EQ(nopal::this_worker::index_or(77), 77u);
  static_assert(noexcept(nopal::this_worker::index_or(0)) && noexcept(nopal::pool::current()));
}

// ---- pool::spawn.

TEST(pool_spawn_test, names_the_pool_whoever_calls) {
  nopal::pool one{{.workers = 1}}, two{{.workers = 2}};
  std::atomic<int> right{0};
  nopal::counter left;
  auto const expect = [&](nopal::pool& p) { return [&p, &right] { right += nopal::pool::current() == &p; }; };
  auto const spawns = [&] {
    for (int k = 0; k < 50; ++k) {
      one.spawn(left, expect(one));
      two.spawn(left, expect(two));
    }
  };
  spawns();
  one.run(spawns);
  two.run(spawns);
  std::thread{spawns}.join();
  nopal::default_pool().run(spawns);
  nopal::wait_for(left);
  EXPECT_EQ(right, 500);
}

TEST(pool_spawn_test, the_pools_end_waits_for_it) {
  std::atomic<int> ended{0};
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 10; ++k) {
      pool.spawn([&] {
        nopal::sleep_for(1ms);
        pool.spawn([&] { ++ended; });
      });
    }
  }
  EXPECT_EQ(ended, 10);
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(throws_when_copied const&) { throw std::runtime_error{"no"}; }
  void operator()() const {}
};

TEST(pool_spawn_test, a_counter_rethrows_and_stays_where_nothing_started) {
  nopal::pool pool{{.workers = 2}};
  nopal::counter left;
  throws_when_copied const f;
  auto const fails = [&] { EXPECT_THROW(pool.spawn(left, f), std::runtime_error); };
  fails();
  pool.run(fails);
  EXPECT_EQ(left.load(), 0);
  pool.spawn(left, [] { throw std::runtime_error{"no"}; });
  EXPECT_THROW(nopal::wait_for(left), std::runtime_error);
}

TEST(pool_spawn_test, closures_larger_than_a_block_and_move_only_ones) {
  nopal::pool pool{{.workers = 2}};
  nopal::pool other{{.workers = 1}};
  nopal::counter left;
  std::atomic<long> sum{0};
  struct large {
    long words[100] = {};
  };
  auto const spawns = [&] {
    for (int k = 0; k < 100; ++k) {
      large l;
      l.words[99] = k;
      pool.spawn(left, [l, &sum] { sum += l.words[99]; });
      pool.spawn(left, [p = std::make_unique<int>(k), &sum] { sum += *p; });
    }
  };
  spawns();
  pool.run(spawns);
  other.run(spawns);
  nopal::wait_for(left);
  EXPECT_EQ(sum, 6 * 4950);
}

}  // namespace
