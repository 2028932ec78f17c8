// Many fibers of about a microsecond, all spawned by one: a thief takes half of the ready ones at once, and a worker that runs one after
// the other answers thieves between two.

#include <gtest/gtest.h>

#include <chrono>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int steps = 50;
constexpr int strips = 64;

// The time of one of many steps, on workers that are awake. In each step 64 fibers do 123 us of work, the middle third four times as much
// as the others, and spawning them takes 3 us.
std::chrono::nanoseconds step_on(char const* workers) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool p{machine(workers)};
  p.run([] {
    for (int step = 0; step < steps; ++step) {
      nopal::counter left;
      for (int i = 0; i < strips; ++i) {
        nopal::simulate_work(50ns);
        bool const is_costly = i >= strips / 3 && i < strips - strips / 3;
        nopal::spawn(left, [=] { nopal::simulate_work(is_costly ? 3700ns : 1000ns); });
      }
      nopal::wait_for(left);
    }
  });
  return nopal::simulated(p)->elapsed / steps;
}

// They took 73, 47, 29 and 21 us when a thief took one at a time, and got no answer while its victim ran its own.
TEST(short_fibers, are_taken_by_halves) {
  EXPECT_LT(step_on("2"), 70us);
  EXPECT_LT(step_on("4"), 42us);
  EXPECT_LT(step_on("8"), 26us);
  EXPECT_LT(step_on("16"), 18'500ns);
}

}  // namespace
