// From rest, on machines where a schedule's time can be said beforehand: who is woken wakes others, so that all run after as many wake-ups in a row
// as the logarithm of their number, and not one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

void tree(int leaves) {
  if (leaves == 1) return nopal::simulate_work(16us);
  nopal::parallel_invoke([=] { tree(leaves / 2); }, [=] { tree(leaves - leaves / 2); });
}

// What 4 ms of work take on 64 workers that all sleep, behind a leaf in which they have fallen asleep: the least of some runs, since workers whose
// threads come late on a loaded machine come late here too.
template <class Work>
std::chrono::nanoseconds from_rest(Work work) {
  with_costs const c{"clock=given,report=/dev/null"};
  std::chrono::nanoseconds least = 1h;
  for (int k = 0; k < 5; ++k) {
    nopal::pool p{machine("64")};
    p.run([&] {
      nopal::parallel_invoke([] {}, [] {});
      nopal::simulate_work(3ms);
      work();
    });
    least = std::min<std::chrono::nanoseconds>(least, nopal::simulated(p)->elapsed - 3ms);
  }
  return least;
}

// A wake-up takes 29 us: one worker after the other would need more than 0.5 ms, as was measured.
TEST(wake_ups, spread_as_a_tree) {
  EXPECT_LT(from_rest([] { tree(256); }), 450us);
  EXPECT_LT(from_rest([] { nopal::parallel_for(0, 256, [](int) { nopal::simulate_work(16us); }); }), 450us);
}

}  // namespace
