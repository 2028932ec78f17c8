// Loops that often wait for a thief's part keep the pages that they soon need again.

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "../scale.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

TEST(loop_memory, is_kept_where_a_shallow_stack_waits) {
  constexpr std::size_t kept = nopal::core::tuning::pages_kept_at_join;
  nopal::core::stack_pool pool{256 << 10, nopal::reclaim::dontneed, 4};
  nopal::core::stack* const s = pool.get();
  std::byte* const kept_from = s->base() + s->mapped() - kept * page();
  for (std::byte* const sp : {s->top() - 100, s->top() - page() - 100, kept_from + 256}) {
    std::fill(kept_from, sp, std::byte{1});
    pool.give_back_below(*s, sp);
    EXPECT_EQ(std::count(kept_from, sp, std::byte{1}), sp - kept_from);
    EXPECT_EQ(pool.counts().unmaps, 0u);
  }
  std::fill(kept_from - 3 * page(), kept_from, std::byte{1});
  pool.give_back_below(*s, s->top() - 100);
  EXPECT_EQ(pool.counts().unmaps, 1u);
  EXPECT_EQ(pool.counts().pages_returned, 3u);
  EXPECT_EQ(*(kept_from - 1), std::byte{0});
  EXPECT_EQ(*kept_from, std::byte{1});
  pool.put(s);
}

// Each loop's join waits on another stack: below it are only loops and the search. On a loaded machine a join may find other strands below
// it, so one good round of several is enough; if nothing is kept, half of the suspensions give pages back.
TEST(loop_memory, is_kept_by_loops_in_a_row) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer's frames take more than the pages that are kept";
  constexpr std::uint64_t enough = 50, joins = 100'000;
  auto const join_that_waits = [] {
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
    nopal::parallel_invoke(
        [&] {
          while (!begun) nopal::core::cpu_relax();
        },
        [&] {
          begun = true;
          std::atomic<int> sum{0};
          nopal::parallel_for(0, 20'000, [&](int) { sum.fetch_add(1, std::memory_order_relaxed); });
          ended = true;
        });
    EXPECT_TRUE(ended);
  };
  bool kept = false;
  for (int round = 0; round < 5 && !kept; ++round) {
    nopal::pool pool{{.workers = 2}};
    for (std::uint64_t k = 0; k < joins && pool.stats().suspensions < enough; ++k) pool.run(join_that_waits);
    nopal::stats const s = pool.stats();
    ASSERT_GE(s.suspensions, enough) << "so nothing was tested";
    kept = s.unmaps < s.suspensions / 5;
  }
  EXPECT_TRUE(kept);
}

}  // namespace
