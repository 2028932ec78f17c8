// parallel_for_blocks: blocks that together are the range, and grain.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "../on_pools.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

using block = std::pair<long, long>;

std::vector<block> blocks_of(long first, long last, nopal::grain g) {
  std::mutex mutex;
  std::vector<block> all;
  nopal::parallel_for_blocks(
      first, last,
      [&](long f, long l) {
        std::lock_guard const guard{mutex};
        all.emplace_back(f, l);
      },
      g);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(parallel_for_blocks, are_the_range) {
  test::on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (long const n : {0l, 1l, 2l, 63l, 1000l, 1'000'000l}) {
        long next = -7;
        for (auto const& [f, l] : blocks_of(-7, n - 7, nopal::grain{0})) {
          EXPECT_EQ(f, next);
          EXPECT_LT(f, l);
          next = l;
        }
        EXPECT_EQ(next, n - 7);
      }
    });
  });
  EXPECT_TRUE(blocks_of(5, 5, nopal::grain{0}).empty());
  EXPECT_TRUE(blocks_of(5, 4, nopal::grain{3}).empty());
}

TEST(parallel_for_blocks, have_exactly_the_grain_that_is_given) {
  auto const expect_blocks = [] {
    for (long const n : {1l, 2l, 7l, 64l, 1000l, 20'000l}) {
      for (long const g : {1l, 2l, 3l, 64l, 100l, 999l, 5000l}) {
        auto const all = blocks_of(-3, n - 3, nopal::grain{static_cast<std::size_t>(g)});
        ASSERT_EQ(static_cast<long>(all.size()), (n + g - 1) / g) << n << " by " << g;
        for (std::size_t k = 0; k < all.size(); ++k) {
          long const first = static_cast<long>(k) * g;
          EXPECT_EQ(all[k], block(first - 3, std::min(first + g, n) - 3));
        }
      }
    }
  };
  expect_blocks();
  test::on_some_pools([&](nopal::pool& pool) { pool.run(expect_blocks); });
  for (auto const s : {nopal::schedule::steal_always, nopal::schedule::steal_never, nopal::schedule::steal_at_random}) {
    nopal::pool pool{{.workers = 3, .seed = 7, .schedule = s}};
    pool.run([] {
      for (long const g : {1l, 3l, 64l}) {
        auto const all = blocks_of(0, 200, nopal::grain{static_cast<std::size_t>(g)});
        ASSERT_EQ(static_cast<long>(all.size()), (200 + g - 1) / g);
        for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k].first, static_cast<long>(k) * g);
      }
    });
  }
}

TEST(parallel_for_blocks, is_small_if_the_whole_is) { EXPECT_EQ(blocks_of(0, 10, nopal::grain{1'000'000}), (std::vector<block>{{0, 10}})); }

}  // namespace
