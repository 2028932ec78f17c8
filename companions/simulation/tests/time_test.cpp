// Sleeps, deadlines and calls that block, in simulated time: hours pass as soon as no worker has anything else to do.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// No cost takes time: only sleeps and work do.
nopal::simulation_report timed(std::string const& on, std::function<void()> const& f) { return given(on, "", f); }

// Of machines on which steals and wake-ups cost nothing; the pauses of thieves remain. Time counts from when a worker has found the job,
// which may be later than the beginning of a time limit.
void expect_about(nanoseconds is, nanoseconds should_be) {
  EXPECT_GE(is, should_be - should_be / 20);
  EXPECT_LE(is, should_be + should_be / 20);
}

TEST(sleepers, pass_hours_in_no_time) {
  expect_about(timed("4",
                     [] {
                       for (int k = 0; k < 100; ++k) nopal::sleep_for(1h);
                     })
                   .elapsed,
               100h);
}

TEST(sleepers, take_turns) {
  nopal::simulation_report const r = timed("4", [] {
    std::vector<std::unique_ptr<nopal::counter>> turns;
    for (int k = 0; k <= 100; ++k) turns.push_back(std::make_unique<nopal::counter>(k == 0 ? 0 : 1));
    nopal::counter left;
    for (std::size_t k = 0; k < 100; ++k) {
      nopal::spawn(left, [&turns, k] {
        nopal::wait_for(*turns[k]);
        nopal::sleep_for(1s);
        turns[k + 1]->done();
      });
    }
    nopal::wait_for(left);
  });
  expect_about(r.elapsed, 100s);
  EXPECT_LE(r.working, 100ms);
}

TEST(sleepers, sleep_at_once) {
  expect_about(timed("2",
                     [] {
                       nopal::counter left;
                       for (int k = 0; k < 100; ++k) nopal::spawn(left, [] { nopal::sleep_for(1h); });
                       nopal::wait_for(left);
                     })
                   .elapsed,
               1h);
}

TEST(sleepers, get_up_in_time_while_others_work) {
  nopal::simulation_report const r = timed("2", [] {
    nopal::counter left;
    nopal::spawn(left, [] {
      nopal::sleep_for(5ms);
      nopal::simulate_work(40ms);
    });
    nopal::spawn(left, [] {
      for (int k = 0; k < 20; ++k) nopal::simulate_work(1ms);
    });
    nopal::wait_for(left);
  });
  expect_about(r.elapsed, 45ms);
}

TEST(sleepers, get_up_in_time_where_all_fork) {
  struct tree {
    static void of(int depth) {
      if (depth == 0) return nopal::simulate_work(100us);
      nopal::parallel_invoke([=] { of(depth - 1); }, [=] { of(depth - 1); });
    }
  };
  nanoseconds late{};
  timed("2", [&] {
    nopal::counter left;
    nopal::spawn(left, [&] {
      auto const begun = nopal::core::now_here();
      nopal::sleep_for(5ms);
      late = nopal::core::now_here() - begun - 5ms;
    });
    tree::of(10);
    nopal::wait_for(left);
  });
  EXPECT_GE(late, 0ms);
  EXPECT_LE(late, 1ms);
}

TEST(sleepers, may_name_a_time_by_any_clock) {
  auto const soon = [](auto const clock) { return timed("2", [] { nopal::sleep_until(decltype(clock)::now() + 1h); }).elapsed; };
  for (nanoseconds const t : {soon(std::chrono::steady_clock{}), soon(std::chrono::system_clock{})}) {
    EXPECT_GE(t, 1h - 1min);
    EXPECT_LE(t, 1h + 1min);
  }
  EXPECT_LE(timed("2", [] { nopal::sleep_until(std::chrono::steady_clock::now() - 1h); }).elapsed, 1ms);
}

TEST(sleepers, are_as_exact_where_work_is_measured) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2x56")};
  p.run([] {
    for (int k = 0; k < 10; ++k) nopal::sleep_for(1h);
  });
  expect_about(nopal::simulated(p)->elapsed, 10h);
}

TEST(sleepers, that_nobody_waits_for_end_with_their_pool) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  p.detach([] { nopal::sleep_for(1h); });
  p.run([] { nopal::spawn([] { nopal::sleep_for(1h); }); });
}

// Something happens 3 ms, and 9 ms, after the beginning of a wait that has 6 ms.
template <class Begin, class Wait, class Tell>
void expect_limit(Begin begin, Wait wait, Tell tell) {
  for (auto const& [after, in_time] : {std::pair{3ms, true}, std::pair{9ms, false}}) {
    bool was_in_time = !in_time;
    nopal::simulation_report const r = timed("2", [&] {
      auto const what = begin();
      nopal::counter left;
      nopal::spawn(left, [&, after = after] {
        nopal::sleep_for(after);
        tell(*what);
      });
      was_in_time = wait(*what);
      if (!was_in_time) nopal::simulate_work(1h);
      nopal::wait_for(left);
    });
    EXPECT_EQ(was_in_time, in_time);
    expect_about(r.elapsed, in_time ? nanoseconds{3ms} : 1h + 6ms);
  }
}

TEST(time_limits, of_a_channel) {
  auto const begin = [] { return std::make_unique<nopal::channel<int>>(1); };
  auto const tell = [](nopal::channel<int>& c) { c.push(1); };
  expect_limit(begin, [](nopal::channel<int>& c) { return c.try_pop_for(6ms).has_value(); }, tell);
  expect_limit(begin, [](nopal::channel<int>& c) { return c.try_pop_until(std::chrono::steady_clock::now() + 6ms).has_value(); }, tell);
  expect_limit(
      begin, [](nopal::channel<int>& c) { return nopal::select(nopal::on_pop(c, [](std::optional<int>) {}), nopal::on_timeout(6ms)) == 0; },
      tell);
}
TEST(time_limits, of_a_semaphore) {
  expect_limit([] { return std::make_unique<nopal::semaphore>(0); }, [](nopal::semaphore& s) { return s.try_acquire_for(6ms); },
               [](nopal::semaphore& s) { s.release(); });
}
TEST(time_limits, of_a_latch) {
  expect_limit([] { return std::make_unique<nopal::latch>(1); }, [](nopal::latch& l) { return l.wait_for(6ms); },
               [](nopal::latch& l) { l.count_down(); });
}
TEST(time_limits, of_a_counter) {
  expect_limit([] { return std::make_unique<nopal::counter>(1); }, [](nopal::counter& c) { return nopal::wait_for(c, 0, 6ms); },
               [](nopal::counter& c) { c.done(); });
}
TEST(time_limits, of_a_timed_mutex) {
  for (auto const& [held_for, in_time] : {std::pair{3ms, true}, std::pair{9ms, false}}) {
    nopal::timed_mutex m;
    nopal::simulation_report const r = timed("2", [&, held_for = held_for, in_time = in_time] {
      nopal::latch held{1};
      nopal::counter left;
      nopal::spawn(left, [&] {
        std::lock_guard const guard{m};
        held.count_down();
        nopal::sleep_for(held_for);
      });
      held.wait();
      bool const locked = m.try_lock_for(6ms);
      EXPECT_EQ(locked, in_time);
      if (locked) m.unlock();
      if (!locked) nopal::simulate_work(1h);
      nopal::wait_for(left);
    });
    expect_about(r.elapsed, in_time ? nanoseconds{3ms} : 1h + 6ms);
  }
}
TEST(time_limits, of_a_condition_variable) {
  struct told {
    nopal::mutex m;
    nopal::condition_variable changed;
    bool is = false;
  };
  expect_limit([] { return std::make_unique<told>(); },
               [](told& t) {
                 std::unique_lock lock{t.m};
                 return t.changed.wait_for(lock, 6ms, [&] { return t.is; });
               },
               [](told& t) {
                 std::lock_guard const guard{t.m};
                 t.is = true;
                 t.changed.notify_one();
               });
}

TEST(time_limits, of_a_future) {
  for (auto const& [takes, in_time] : {std::pair{3ms, true}, std::pair{9ms, false}}) {
    timed("2", [&, takes = takes, in_time = in_time] {
      auto f = nopal::pool::current()->submit([=] { nopal::simulate_work(takes); });
      EXPECT_EQ(f.wait_for(6ms), in_time);
      f.get();
    });
  }
}

TEST(time_limits, of_a_region_end_its_waits) {
  nopal::simulation_report const r = timed("2", [] {
    EXPECT_THROW(nopal::with_time_limit(1h, [] { nopal::sleep_for(2h); }), nopal::stopped);
    EXPECT_THROW(
        nopal::with_time_limit(3h, [] { nopal::with_deadline(std::chrono::system_clock::now() + 1h, [] { nopal::sleep_for(2h); }); }),
        nopal::stopped);
  });
  EXPECT_GE(r.elapsed, 2h - 1min);
  EXPECT_LE(r.elapsed, 2h + 1min);
}

TEST(time_limits, of_a_region_are_polled_in_simulated_time) {
  nopal::simulation_report const r = timed("2", [] {
    nopal::with_time_limit(1h, [] {
      while (!nopal::stop_requested()) nopal::simulate_work(1min);
    });
  });
  expect_about(r.elapsed, 1h);
}

// The region is of a thread outside, and of that time.
TEST(time_limits, of_a_region_outside_hold_inside) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  EXPECT_THROW(nopal::with_time_limit(20ms, [&] { p.run([] { nopal::sleep_for(1h); }); }), nopal::stopped);
  EXPECT_LE(nopal::simulated(p)->elapsed, 21ms);
}

TEST(calls_that_block, take_their_time) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  nanoseconds took{};
  p.run([&] {
    nopal::block_on([&] {
      auto const begun = std::chrono::steady_clock::now();
      std::this_thread::sleep_for(20ms);
      took = std::chrono::steady_clock::now() - begun;
    });
  });
  expect_about(nopal::simulated(p)->elapsed, took);
}

// A wait that is longer than the call does not end earlier.
TEST(calls_that_block, come_before_what_is_later) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  bool was_in_time = false;
  p.run([&] {
    nopal::latch told{1};
    nopal::counter left;
    nopal::spawn(left, [&] {
      nopal::block_on([] { std::this_thread::sleep_for(20ms); });
      told.count_down();
    });
    was_in_time = told.wait_for(1h);
    nopal::wait_for(left);
    nopal::sleep_for(1h);
  });
  EXPECT_TRUE(was_in_time);
  expect_about(nopal::simulated(p)->elapsed, 1h);
}

TEST(calls_that_block, are_asked_to_stop_in_time) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  p.run([] {
    nopal::with_time_limit(20ms, [] {
      nopal::block_on([] {
        while (!nopal::stop_requested()) std::this_thread::sleep_for(1ms);
      });
    });
  });
  EXPECT_GE(nopal::simulated(p)->elapsed, 19ms);  // as in expect_about
}

// The second call has a thread for the second half of its time limit only.
TEST(calls_that_block, are_asked_to_stop_in_time_though_they_begin_late) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool_options o = machine("2");
  o.blocking_threads = 1;
  nopal::pool p{o};
  p.run([] {
    nopal::counter left;
    nopal::spawn(left, [] { nopal::block_on([] { std::this_thread::sleep_for(10ms); }); });
    nopal::yield();
    nopal::with_time_limit(20ms, [] {
      nopal::block_on([] {
        while (!nopal::stop_requested()) std::this_thread::sleep_for(1ms);
      });
    });
    nopal::wait_for(left);
  });
  EXPECT_GE(nopal::simulated(p)->elapsed, 19ms);  // as in expect_about
}

// A thread outside the pool runs in real time: so no time limit passes before that thread can act.
TEST(threads_outside, may_come_before_a_time_limit) {
  with_costs const costs{"report=/dev/null"};
  nopal::pool p{machine("2")};
  nopal::channel<int> ch{1};
  std::thread outside{[&] {
    std::this_thread::sleep_for(20ms);
    ch.push(1);
  }};
  EXPECT_TRUE(p.run([&] { return ch.try_pop_for(1h); }).has_value());
  outside.join();
  p.run([] { nopal::sleep_for(1h); });
}

}  // namespace
