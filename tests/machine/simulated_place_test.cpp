// A place of a simulated machine.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/place.hpp"
#include "nopal/pool.hpp"

namespace {

using nopal::place;

TEST(simulated_place, holds_its_workers) {
  nopal::pool pool{{.place = place::numa(1), .experimental = {.simulate = "2x3"}}};
  EXPECT_EQ(pool.workers(), 3U);
  std::atomic<int> sum{0};
  pool.run([&] { nopal::parallel_for(0, 100, [&](int k) { sum += k; }); });
  EXPECT_EQ(sum, 4950);
  EXPECT_THROW((nopal::pool{{.place = place::numa(2), .experimental = {.simulate = "2x3"}}}), std::invalid_argument);
}

}  // namespace
