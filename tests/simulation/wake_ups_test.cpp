// From rest, on machines where a schedule's time can be said beforehand: who is woken wakes others, so that all run after as many wake-ups in a row
// as the logarithm of their number, and not one after the other.

#include <gtest/gtest.h>

#include <chrono>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

void tree(int leaves) {
  if (leaves == 1) return nopal::simulate_work(16us);
  nopal::parallel_invoke([=] { tree(leaves / 2); }, [=] { tree(leaves - leaves / 2); });
}

// What 4 ms of work take on 64 workers that all sleep, behind a leaf in which they have fallen asleep.
template <class Work>
std::chrono::nanoseconds from_rest(Work work) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool p{machine("64")};
  p.run([&] {
    nopal::parallel_invoke([] {}, [] {});
    nopal::simulate_work(3ms);
    work();
  });
  return nopal::simulated(p)->elapsed - 3ms;
}

// A wake-up takes 29 us: one worker after the other would need more than 0.5 ms, as was measured.
TEST(wake_ups, spread_as_a_tree) {
  EXPECT_LT(from_rest([] { tree(256); }), 450us);
  EXPECT_LT(from_rest([] { nopal::parallel_for(0, 256, [](int) { nopal::simulate_work(16us); }); }), 450us);
}

}  // namespace
