// All that a pool runs is counted, and nothing hangs: fibers from outside, the default pool, a pool in the child of a fork, thieves that do
// not pause.

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <ranges>
#include <thread>
#include <vector>

#include "scale.hpp"
#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

TEST(fibers_from_outside, count) {
  with_costs const costs{"clock=given,report=/dev/null,look=0,steal=0,wake=0,wake_up=0"};
  nopal::pool p{machine("4")};
  nopal::counter left;
  for (int k = 0; k < 8; ++k) p.spawn(left, [] { nopal::simulate_work(10ms); });
  nopal::wait_for(left);
  while (nopal::simulated(p)->elapsed == 0ms) std::this_thread::sleep_for(1ms);  // the counter falls before the fiber has ended
  EXPECT_EQ(nopal::simulated(p)->working, 80ms);
  EXPECT_GE(nopal::simulated(p)->elapsed, 20ms);
}

TEST(fibers_from_outside, may_throw_and_stop) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  nopal::counter left;
  p.spawn(left, [] { throw 7; });
  EXPECT_THROW(nopal::wait_for(left), int);
}

// A thread that works for no pool of the machine brings the job.
TEST(jobs_of_other_pools, count) {
  with_costs const costs{"clock=given,report=/dev/null"};
  nopal::pool p{machine("2")};
  nopal::pool real{{.workers = 1}};
  real.run([&] { p.run([] { nopal::simulate_work(10ms); }); });
  EXPECT_GE(nopal::simulated(p)->elapsed, 10ms);
  nopal::pool q{machine("2")};
  q.run([&] { p.run([] { nopal::simulate_work(10ms); }); });
  EXPECT_GE(nopal::simulated(p)->elapsed, 20ms);
}

TEST(what_runs_outside, is_told_apart) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  auto const work = [](std::chrono::nanoseconds t) {
    auto const end = std::clock() + t.count() * CLOCKS_PER_SEC / 1'000'000'000;
    while (std::clock() < end) {
    }
  };
  auto const before = nopal::simulated(p)->outside;
  p.run([&] { work(20ms); });
  EXPECT_LT(nopal::simulated(p)->outside - before, 10ms);
  EXPECT_LT(nopal::simulated(p)->elapsed, 50ms);
  auto const between = nopal::simulated(p)->outside;
  work(20ms);
  EXPECT_GE(nopal::simulated(p)->outside - between, 5ms);  // std::clock counts the ticker, too
}

TEST(thieves_that_do_not_pause, come_to_an_end) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool_options o = machine("4");
  o.back_off = false;
  nopal::pool p{o};
  int n = 0;
  p.run([&] { nopal::parallel_invoke([&] { ++n; }, [] {}); });
  EXPECT_EQ(n, 1);
}

TEST(the_default_pool, reports_at_exit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("NOPAL_SCHEDULE", "simulate:3", 1);
        nopal::default_pool().run([] {
          for (int volatile k = 0; k < 10'000;) k = k + 1;
        });
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^nopal: simulated 3 workers: T_P = [^\n]*\n[^\n]*\n[^\n]*\n  outside the pool [^\n]*\n(  for [^\n]*\n)?$");
}

TEST(the_default_pool, reports_once_that_it_was_shut_down) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("NOPAL_SCHEDULE", "simulate:3", 1);
        nopal::default_pool().run([] {
          for (int volatile k = 0; k < 10'000;) k = k + 1;
        });
        static_cast<void>(nopal::shutdown(10s));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^nopal: simulated 3 workers: T_P = [^\n]*\n[^\n]*\n[^\n]*\n  outside the pool [^\n]*\n(  for [^\n]*\n)?$");
}

// Some threads come when the pool has ended already, and are there no less: the next job waits for as many as have come since.
TEST(the_default_pool, starts_again_where_threads_came_late) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("NOPAL_SCHEDULE", "simulate:8", 1);
        for (int k = 0; k < 20; ++k) {
          static_cast<void>(nopal::default_pool());
          static_cast<void>(nopal::shutdown(10min));
        }
        nopal::default_pool().run([] {});
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// A worker that reads the report holds the machine's lock. An alarm interrupts it often, since another worker searches all the time.
TEST(the_report, is_read_by_a_worker_that_is_interrupted) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool_options o = machine("2");
  o.idle = nopal::idle::busy;
  nopal::pool p{o};
  std::chrono::nanoseconds sum{};
  p.run([&] {
    for (int k = 0; k < 20'000; ++k) sum += nopal::simulated(p)->working;
    for (int k = 0; k < 100; ++k) sum += std::chrono::nanoseconds{p.stats().lost_turns};
  });
  EXPECT_GT(sum, 0ns);
}

// Called outside the pool: on 16 workers 64 ms of work take about 4. In 16 blocks, which do not depend on time, a loop took 12.8.
TEST(the_default_pool, runs_a_loop_from_outside_as_one_from_inside) {
  with_costs const costs{"clock=given,report=/dev/null"};
  ::setenv("NOPAL_SCHEDULE", "simulate:16", 1);
  auto const slowly = [](int x) {
    nopal::simulate_work(1ms);
    return x;
  };
  auto const time_of = [](auto call) {
    auto const elapsed = [] { return nopal::simulated(nopal::default_pool())->elapsed; };
    auto const before = elapsed();
    call();
    return elapsed() - before;
  };
  std::vector<int> const v(64);
  EXPECT_LT(time_of([&] { nopal::parallel_for(0, 64, slowly); }), 6ms);
  EXPECT_LT(time_of([&] { nopal::reduce(v, 0, [&](int a, int b) { return slowly(a) + b; }); }), 11ms);  // log n sums follow each other
  EXPECT_LT(time_of([&] { nopal::transform_reduce(v, 0, std::plus<>{}, slowly); }), 8ms);               // two elements come first
}

// The child has no simulated machine but the one that it makes.
TEST(the_child_of_a_job, may_simulate_a_machine_of_its_own) {
  if (test::sanitized) GTEST_SKIP() << "the thread sanitizer has no threads behind a fork";
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2x4")};
  int const status = p.run([] {
    pid_t const child = ::fork();
    if (child == 0) {
      long sum = 0;
      {
        nopal::pool own{machine("2x2")};
        sum = own.run([] { return nopal::transform_reduce(std::views::iota(0, 1000), 0L, std::plus<>{}, [](int k) { return long{k}; }); });
        if (nopal::simulated(own)->workers != 4) sum = 0;
      }
      ::_exit(sum == 499'500 ? 42 : 1);
    }
    int s = 0;
    ::waitpid(child, &s, 0);
    return s;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
