// The parts of a loop come back to the workers that had them. In given time, in which no other program disturbs who runs what.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

TEST(affinity, parts_come_back) {
  constexpr int n = 64;
  with_costs const costs{"clock=given,report=/dev/null"};
  for (char const* const on : {"2", "4", "2x2", "16"}) {
    nopal::pool pool{machine(on)};
    nopal::affinity keep;
    std::vector<unsigned> last(n, ~0U);
    int moved = 0;
    for (int round = 0; round < 12; ++round) {
      pool.run([&] {
        nopal::parallel_for(
            0, n,
            [&](int i) {
              nopal::simulate_work(300us);
              unsigned const me = nopal::this_worker::index();
              moved += round > 1 && last[static_cast<std::size_t>(i)] != me ? 1 : 0;  // one worker runs at a time there
              last[static_cast<std::size_t>(i)] = me;
            },
            keep);
      });
    }
    EXPECT_EQ(moved, 0) << on;
  }
}

}  // namespace
