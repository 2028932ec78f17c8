// Where threads fall asleep, and whose place a thread from outside takes. The system wakes a thread where it fell asleep, as a rule: so the
// threads of a pool sleep on different CPUs, also if they are not bound, and a caller leaves those that sleep on other CPUs than its own.

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "nopal/nopal.hpp"

namespace {

using namespace std::chrono_literals;

bool bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

/// A pool of two that is not pinned, since another one of the process is.
class sleeping_place : public testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2 || nopal::pool{}.workers() < 2) GTEST_SKIP() << "one CPU";
  }

  /// Both threads have run something at once, and sleep again. They have noted where.
  void rest_after_work() {
    for (nopal::core::worker* const w : state_.workers) w->sleeps_on = -1;
    std::atomic<int> met{0};
    auto const meet = [&] {
      ++met;
      while (met != 2) std::this_thread::yield();
    };
    auto one = pool_.submit(meet);
    auto other = pool_.submit(meet);
    one.get();
    other.get();
    // A thread counts as parked a moment before it notes where it falls asleep.
    auto const rests = [&](unsigned k) { return state_.parking.is_parked(k) && state_.workers[k]->sleeps_on >= 0; };
    while (!rests(0) || !rests(1)) std::this_thread::sleep_for(1ms);
  }

  nopal::pool first_;
  nopal::pool pool_{nopal::pool_options{.workers = 2, .name = "second"}};
  nopal::core::pool_state& state_ = pool_.run([]() -> nopal::core::pool_state& { return nopal::core::current()->pool(); });
};

// Left to the system they fell asleep on one CPU in 36 of 40 times and more. It moves some between two steps, on a busy machine more: so of
// ten rows of 40, one must go well.
TEST_F(sleeping_place, of_two_threads_differs) {
  int apart = 0;
  for (int row = 0; row < 10 && apart < 30; ++row) {
    apart = 0;
    for (int k = 0; k < 40; ++k) {
      rest_after_work();
      apart += state_.workers[0]->sleeps_on != state_.workers[1]->sleeps_on ? 1 : 0;
    }
  }
  EXPECT_GE(apart, 30);
}

// Where they fell asleep is set here. The caller comes on another CPU each time: on the same one it takes the worker of last time. A worker
// may wake up by itself in between: so a few may be missed.
TEST_F(sleeping_place, beside_the_callers_is_left_asleep) {
  std::array const cpus = {state_.places[0].cpu, state_.places[1].cpu};
  ASSERT_NE(cpus[0], cpus[1]);
  int as_it_should = 0;
  std::thread{[&] {
    for (unsigned k = 0; k < 40; ++k) {
      rest_after_work();
      unsigned const here = k % 2;
      unsigned const right = k / 2 % 2;
      state_.workers[right]->sleeps_on = cpus.at(here);
      state_.workers[1 - right]->sleeps_on = cpus.at(1 - here);
      ASSERT_TRUE(bind_to(cpus.at(here)));
      as_it_should += pool_.run([] { return nopal::this_worker::index(); }) == right ? 1 : 0;
    }
  }}.join();
  EXPECT_GE(as_it_should, 35);
}

}  // namespace
