// The floating-point mode belongs to the strand: a thief takes it over, and the strand gets it back. Each check reads the control words and
// the processor's result of a sum.
// Needs the companion simulation.

#include "nopal/floating_point.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "floating_point_modes.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::task;
using test::expected_mode;
using test::modes;

std::atomic<int> wrong{0};
std::atomic<int> leaves{0};

void check(expected_mode const& m) {
  leaves.fetch_add(1, std::memory_order_relaxed);
  if (!m.holds()) wrong.fetch_add(1, std::memory_order_relaxed);
}

void tree_of_halves(expected_mode const& m, int depth) {
  check(m);
  if (depth == 0) return;
  nopal::parallel_invoke([&] { tree_of_halves(m, depth - 1); }, [&] { tree_of_halves(m, depth - 1); });
  check(m);
}
void tree_of_scopes(expected_mode const& m, int depth) {
  check(m);
  if (depth == 0) return;
  nopal::scope s;
  s.fork([&m, depth] { tree_of_scopes(m, depth - 1); });
  tree_of_scopes(m, depth - 1);
  check(m);
  s.join();
  check(m);
}
task<void> tree_of_tasks(expected_mode const& m, int depth) {
  check(m);
  if (depth == 0) co_return;
  co_await nopal::fork(tree_of_tasks, std::cref(m), depth - 1);
  check(m);
  co_await nopal::call(tree_of_tasks, std::cref(m), depth - 1);
  check(m);
  co_await nopal::join;
  check(m);
}

// The same, with a mode of its own at each level, restored at its end.
void rotating_halves(std::size_t i, int depth) {
  expected_mode const& m = modes()[i % modes().size()];
  nopal::floating_point_mode const mode{[&] { m.set(); }};
  check(m);
  if (depth == 0) return;
  nopal::parallel_invoke([&] { rotating_halves(i + 1, depth - 1); }, [&] { check(m); }, [&] { rotating_halves(i + 2, depth - 1); });
  check(m);
}
void rotating_scopes(std::size_t i, int depth) {
  expected_mode const& m = modes()[i % modes().size()];
  nopal::floating_point_mode const mode{[&] { m.set(); }};
  check(m);
  if (depth == 0) return;
  nopal::scope s;
  s.fork([i, depth] { rotating_scopes(i + 1, depth - 1); });
  check(m);
  rotating_scopes(i + 2, depth - 1);
  s.join();
  check(m);
}
task<void> rotating_tasks(std::size_t i, int depth) {
  expected_mode const& m = modes()[i % modes().size()];
  nopal::floating_point_mode const mode{[&] { m.set(); }};
  check(m);
  if (depth == 0) co_return;
  co_await nopal::fork(rotating_tasks, i + 1, depth - 1);
  check(m);
  co_await nopal::call(rotating_tasks, i + 2, depth - 1);
  check(m);
  co_await nopal::fork(rotating_tasks, i + 3, depth - 1);
  check(m);
  {
    expected_mode const& at_join = modes()[(i + 1) % modes().size()];
    nopal::floating_point_mode const another{[&] { at_join.set(); }};
    co_await nopal::join;
    check(at_join);
  }
  check(m);
}

/// Runs on pools with certain steals, and on one with a free schedule. Counts steals and leaves; afterwards all of them were right, and the
/// calling thread, and jobs in its mode on every worker, are unchanged.
template <class F>
void on_pools(F&& f) {
  std::vector<nopal::pool_options> options{
      {.workers = 2, .schedule = nopal::schedule::steal_always}, {.workers = 3, .schedule = nopal::schedule::steal_always}, {.workers = 4}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    options.push_back({.workers = 3, .seed = seed, .schedule = nopal::schedule::steal_at_random});
  expected_mode const& usual = modes()[0];
  ASSERT_TRUE(usual.holds());
  for (nopal::pool_options const& o : options) {
    wrong = leaves = 0;
    nopal::pool pool{o};
    f(pool);
    EXPECT_TRUE(usual.holds());
    EXPECT_GT(leaves.load(), 0);
    EXPECT_EQ(wrong.load(), 0) << "of " << leaves.load();
    if (o.schedule == nopal::schedule::steal_always) {
      EXPECT_GT(pool.stats().steals, 0u);
    }
    pool.run([&] { tree_of_halves(usual, 6); });
    EXPECT_EQ(wrong.load(), 0) << "thieves have kept the mode";
  }
}

TEST(floating_point, a_job_sets_its_mode_before_it_forks) {
  on_pools([](nopal::pool& pool) {
    for (expected_mode const& m : modes()) {
      SCOPED_TRACE(m.name);
      pool.run([&] { m.set(), tree_of_halves(m, 6); });
      pool.run([&] { m.set(), tree_of_scopes(m, 6); });
      pool.run([&]() -> task<void> {
        m.set();
        co_await nopal::call(tree_of_tasks, std::cref(m), 6);
      });
      pool.run([&] { m.set(), nopal::sync_wait(tree_of_tasks, std::cref(m), 6), check(m); });
    }
  });
}

TEST(floating_point, modes_nest) {
  on_pools([](nopal::pool& pool) {
    for (std::size_t i = 0; i < modes().size(); ++i) {
      pool.run([&] { rotating_halves(i, 4); });
      pool.run([&] { rotating_scopes(i, 5); });
      pool.run([&] { return rotating_tasks(i, 4); });
      pool.run([&] {
        modes()[i].set();
        nopal::sync_wait(rotating_tasks, i + 1, 4);
        check(modes()[i]);
      });
    }
  });
}

TEST(floating_point, jobs_from_outside_run_in_the_mode_of_who_gives_them) {
  on_pools([](nopal::pool& pool) {
    for (expected_mode const& m : modes()) {
      SCOPED_TRACE(m.name);
      nopal::counter done;
      std::thread outside{[&] {
        m.set();
        pool.run([&] { tree_of_halves(m, 4); });
        EXPECT_TRUE(m.holds());
        auto job = pool.submit([&] { tree_of_scopes(m, 4); });
        auto tasks = pool.submit([&] { return tree_of_tasks(m, 4); });
        done.add(2);
        pool.detach([&] { check(m), done.done(); });
        pool.spawn([&] { check(m), nopal::yield(), tree_of_halves(m, 4), check(m), done.done(); });
        job.get();
        tasks.get();
        nopal::wait_for(done);
        EXPECT_TRUE(m.holds());
      }};
      outside.join();
    }
  });
}

TEST(floating_point, a_scope_off_a_pool_gives_its_mode_to_its_children) {
  for (expected_mode const& m : modes()) {
    SCOPED_TRACE(m.name);
    wrong = 0;
    std::thread outside{[&] {
      m.set();
      nopal::scope s;
      for (int i = 0; i < 20; ++i) s.fork([&m] { check(m), tree_of_halves(m, 3); });
      modes()[0].set();  // the thread runs the rest of them at the join
      s.join();
      EXPECT_TRUE(modes()[0].holds());
    }};
    outside.join();
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(floating_point, a_fiber_keeps_its_mode_over_its_waits) {
  on_pools([](nopal::pool& pool) {
    nopal::counter done;
    pool.run([&] {
      for (int i = 0; i < 20; ++i) {
        for (expected_mode const& m : modes()) {
          nopal::spawn(done, [&m] {
            m.set();
            for (int k = 0; k < 4; ++k) nopal::yield(), check(m);
            nopal::counter inner;
            nopal::spawn(inner, [&m] { check(m), nopal::yield(), check(m); });
            nopal::wait_for(inner);
            check(m);
            tree_of_halves(m, 2);
          });
        }
      }
      check(modes()[0]);
    });
    nopal::wait_for(done);
  });
}

// One worker, so that each fiber follows the one before on the same thread, and no change is declared.
TEST(floating_point, a_fiber_begins_in_the_mode_of_its_spawn_whatever_the_one_before_has_left) {
  nopal::pool pool{{.workers = 1}};
  wrong = leaves = 0;
  int spawned = 0;
  pool.run([&] {
    for (expected_mode const& left : modes()) {
      nopal::counter done;
      for (expected_mode const& m : modes()) {
        m.set();
        nopal::spawn(done, [&] { check(m), left.set(); });
        nopal::spawn(done, [&] { check(m), nopal::yield(), check(m), left.set(); });
        spawned += 3;
      }
      nopal::wait_for(done);
      check(modes().back());
    }
    modes()[0].set();
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(leaves.load(), spawned + static_cast<int>(modes().size()));
  pool.run([] { check(modes()[0]); });
  EXPECT_EQ(wrong.load(), 0);
}

#if defined(__x86_64__)
void overflow() {
  double volatile x = 0x1p1023;
  x = x * x;
}
// Those of mxcsr: a fiber begins with its spawner's, and a waiter, in a pool or outside, has its own afterwards.
TEST(floating_point, sticky_flags_of_others_are_not_seen_after_a_wait) {
  std::feclearexcept(FE_ALL_EXCEPT);
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    std::feclearexcept(FE_ALL_EXCEPT);
    nopal::counter done;
    for (int i = 0; i < 3; ++i) {
      nopal::spawn(done, [] {
        EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
        overflow();
        EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
        nopal::yield();
        EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
      });
    }
    nopal::wait_for(done);
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
    overflow();
    nopal::spawn(done, [] {
      EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
      std::feclearexcept(FE_ALL_EXCEPT);
    });
    nopal::wait_for(done);
    EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  });
  EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
  overflow();
  pool.run([] { std::feclearexcept(FE_ALL_EXCEPT); });
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}
#endif

task<void> forks_then_waits(expected_mode const& m, int depth, nopal::counter& open) {
  check(m);
  if (depth == 0) {
    nopal::counter fibers;
    nopal::spawn(fibers, [&] { check(m); });
    nopal::wait_for(fibers);  // the stack is left with all its ancestors in the deque
    check(m);
    co_return;
  }
  co_await nopal::fork(forks_then_waits, std::cref(m), depth - 1, std::ref(open));
  check(m);
  co_await nopal::fork(forks_then_waits, std::cref(m), depth - 1, std::ref(open));
  check(m);
  co_await nopal::join;
  check(m);
}
TEST(floating_point, what_is_given_away_keeps_its_mode) {
  on_pools([](nopal::pool& pool) {
    for (expected_mode const& m : modes()) {
      nopal::counter open;
      pool.run([&]() -> task<void> {
        m.set();
        co_await nopal::call(forks_then_waits, std::cref(m), 4, std::ref(open));
      });
    }
  });
}

TEST(floating_point, a_task_that_moves_keeps_its_mode) {
  on_pools([](nopal::pool& pool) {
    for (expected_mode const& m : modes()) {
      pool.run([&]() -> task<void> {
        m.set();
        for (unsigned i = 0; i < pool.workers(); ++i) {
          co_await nopal::resume_on(pool.worker(i));
          check(m);
          co_await nopal::call(tree_of_tasks, std::cref(m), 3);
        }
      });
    }
  });
}

task<void> chain(expected_mode const& m, int n) {
  check(m);
  if (n == 0) co_return;
  co_await nopal::fork(chain, std::cref(m), n - 1);
  co_await nopal::join;
  check(m);
}
TEST(floating_point, a_start_that_is_deferred_keeps_its_mode) {
  for (expected_mode const& m : modes()) {
    wrong = 0;
    nopal::pool pool{{.workers = 2, .stack_size = std::size_t{64} << 10}};
    pool.run([&]() -> task<void> {
      m.set();
      co_await nopal::call(chain, std::cref(m), 5000);
    });
    EXPECT_EQ(wrong.load(), 0) << m.name;
  }
}

TEST(floating_point, an_exception_brings_the_mode_back) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  pool.run([&] {
    EXPECT_THROW(nopal::parallel_invoke(
                     [&] {
                       nopal::floating_point_mode const up{FE_UPWARD};
                       nopal::parallel_invoke([] {}, [] { throw std::runtime_error{"in the later half"}; });
                     },
                     [] { check(modes()[0]); }),
                 std::runtime_error);
    EXPECT_TRUE(modes()[0].holds());
  });
}

TEST(floating_point, another_rounding_than_the_processor_s_is_refused) {
  try {
    nopal::floating_point_mode const none{12345};
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_NE(std::string{e.what()}.find("12345"), std::string::npos);
    EXPECT_NE(std::string{e.what()}.find("FE_UPWARD"), std::string::npos);
  }
  EXPECT_TRUE(modes()[0].holds());
}

}  // namespace
