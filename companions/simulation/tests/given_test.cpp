// Programs of given work: their times on a simulated machine are known.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// A tree of 2^depth leaves, each of which takes so long.
void tree(int depth, nanoseconds leaf) {
  if (depth == 0) return nopal::simulate_work(leaf);
  nopal::parallel_invoke([=] { tree(depth - 1, leaf); }, [=] { tree(depth - 1, leaf); });
}

nopal::task<void> task_tree(int depth, nanoseconds leaf) {
  if (depth == 0) {
    nopal::simulate_work(leaf);
    co_return;
  }
  co_await nopal::fork(task_tree, depth - 1, leaf);
  co_await nopal::call(task_tree, depth - 1, leaf);
  co_await nopal::join;
}

std::uint64_t all_steals(nopal::simulation_report const& r) { return std::accumulate(r.steals.begin(), r.steals.end(), std::uint64_t{0}); }

TEST(given, one_worker_takes_the_sum) {
  nopal::simulation_report const r = given("1", "", [] { tree(6, 1ms); });
  EXPECT_GE(r.elapsed, 64ms);
  EXPECT_LE(r.elapsed, 64ms + 10us);  // until the worker has found the job
  EXPECT_EQ(r.working, 64ms);
  EXPECT_EQ(r.workers, 1U);
  EXPECT_EQ(all_steals(r), 0U);
  EXPECT_NEAR(r.efficiency(), 1, 0.001);
}

TEST(given, a_tree_of_equal_leaves_is_shared_by_as_many_as_there_are) {
  for (unsigned const p : {2U, 4U, 8U, 64U}) {
    nopal::simulation_report const r = given(std::to_string(p), "", [] { tree(6, 1ms); });
    EXPECT_EQ(r.working, 64ms) << p;
    EXPECT_GE(r.elapsed, 64ms / p) << p;
    EXPECT_LE(r.elapsed, 64ms / p + 1ms) << p;  // Brent's bound: the span is one leaf
    EXPECT_GE(all_steals(r), p - 1) << p;
  }
}

TEST(given, tasks_are_as_ordinary_functions) {
  nopal::simulation_report const r = given("8", "", [] { nopal::sync_wait(task_tree, 6, nanoseconds{1ms}); });
  EXPECT_EQ(r.working, 64ms);
  EXPECT_GE(r.elapsed, 8ms);
  EXPECT_LE(r.elapsed, 9ms);
}

TEST(given, a_join_ends_when_its_last_child_does) {
  for (bool const first_is_long : {true, false}) {
    nopal::simulation_report const r = given("4", "", [=] {
      nopal::parallel_invoke([=] { nopal::simulate_work(first_is_long ? 70ms : 10ms); },
                             [=] { nopal::simulate_work(first_is_long ? 10ms : 70ms); });
      nopal::simulate_work(5ms);
    });
    EXPECT_GE(r.elapsed, 75ms);
    EXPECT_LE(r.elapsed, 75ms + 100us);  // until the thief had its part
  }
}

TEST(given, fibers_wait_for_a_counter) {
  nopal::simulation_report const r = given("4", "", [] {
    nopal::counter c;
    for (int k = 0; k < 16; ++k) nopal::spawn(c, [] { nopal::simulate_work(2ms); });
    nopal::wait_for(c);
  });
  EXPECT_EQ(r.working, 32ms);
  EXPECT_GE(r.elapsed, 8ms);
  EXPECT_LE(r.elapsed, 10ms);
}

TEST(given, loops_are_shared) {
  nopal::simulation_report const r = given("8", "", [] { nopal::parallel_for(0, 64, [](int) { nopal::simulate_work(1ms); }); });
  EXPECT_GE(r.working, 64ms);
  EXPECT_LE(r.working, 64ms + 100us);  // its end waits for a thief's part before it leaves the stack
  EXPECT_GE(r.elapsed, 8ms);
  EXPECT_LE(r.elapsed, 16ms);  // a block of several iterations that has begun is not split
}

// The thieves sleep while the job works alone. Its first forks are later by the time that a wake-up takes.
TEST(given, a_sleeper_comes_as_late_as_waking_it_takes) {
  auto const job = [] {
    nopal::simulate_work(50ms);
    tree(1, 20ms);
  };
  nopal::simulation_report const soon = given("2", "wake_up=0", job);
  nopal::simulation_report const late = given("2", "wake_up=3000000", job);
  EXPECT_GE(soon.wakeups, 1U);
  EXPECT_GE(late.elapsed - soon.elapsed, 2'900us);
  EXPECT_LE(late.elapsed - soon.elapsed, 3'100us);
  EXPECT_GE(late.waking, 3ms);
}

TEST(given, a_steal_takes_what_it_costs) {
  auto const job = [] { tree(1, 20ms); };
  nopal::simulation_report const cheap = given("2", "steal=0", job, nopal::idle::busy);
  nopal::simulation_report const dear = given("2", "steal=2000000", job, nopal::idle::busy);
  ASSERT_GE(all_steals(cheap), 1U);  // the job may be one of what is stolen
  ASSERT_GE(all_steals(dear), 1U);
  EXPECT_GE(dear.elapsed - cheap.elapsed, 1'900us);
  EXPECT_LE(dear.elapsed - cheap.elapsed, all_steals(dear) * 2ms + 100us);
}

TEST(given, busy_workers_never_sleep) {
  nopal::simulation_report const r = given("4", "", [] { tree(2, 20ms); }, nopal::idle::busy);
  EXPECT_EQ(r.asleep, 0ms);
  EXPECT_EQ(r.wakeups, 0U);
  EXPECT_GT(r.searching, 0ms);
}

TEST(given, thieves_prefer_the_near) {
  nopal::simulation_report const r = given("2x8", "", [] { tree(11, 100us); });
  ASSERT_EQ(r.distances.size(), 2U);
  EXPECT_GT(r.steals[0], r.steals[1]);
  EXPECT_GT(r.steals[1], 0U);  // or the other node had nothing to do
}

TEST(given, nothing_is_stolen_where_workers_do_not_steal) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool_options o = machine("8");
  o.steal = false;
  nopal::pool p{o};
  p.run([] { tree(4, 1ms); });
  nopal::simulation_report const r = nopal::simulated(p).value();
  EXPECT_GE(r.elapsed, 16ms);
  EXPECT_LE(r.elapsed, 16ms + 10us);  // until the worker has found the job
  EXPECT_EQ(all_steals(r), 0U);
}

TEST(given, time_counts_while_a_job_from_outside_runs) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool p{machine("4")};
  EXPECT_EQ(nopal::simulated(p)->elapsed, 0ms);
  p.run([] { nopal::simulate_work(3ms); });
  p.run([] { nopal::simulate_work(4ms); });
  EXPECT_GE(nopal::simulated(p)->elapsed, 7ms);
  EXPECT_LE(nopal::simulated(p)->elapsed, 7ms + 20us);
  p.submit([] { nopal::simulate_work(5ms); }).get();
  EXPECT_GE(nopal::simulated(p)->elapsed, 12ms);
  EXPECT_LE(nopal::simulated(p)->elapsed, 12ms + 30us);
}

// Workers that never sleep search while a thread outside brings a job.
TEST(given, what_workers_do_before_they_find_a_job_does_not_count) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool_options o = machine("8");
  o.idle = nopal::idle::busy;
  nopal::pool p{o};
  for (int k = 0; k < 50; ++k) p.run([] { nopal::simulate_work(1ms); });
  EXPECT_EQ(nopal::simulated(p)->elapsed, 50ms);
}

TEST(given, work_is_of_no_account_elsewhere) {
  nopal::simulate_work(1h);
  nopal::pool p{{.workers = 2}};
  p.run([] { nopal::simulate_work(1h); });
  EXPECT_FALSE(nopal::simulated(p).has_value());
}

}  // namespace
