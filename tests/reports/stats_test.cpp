// stats(): the numbers of the workers add up to the totals.

#include "nopal/stats.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"

namespace {

void deep(int levels) {
  char volatile pages[8192];
  for (std::size_t k = 0; k < sizeof pages; ++k) pages[k] = static_cast<char>(levels);  // all: also at the high-water mark
  if (levels > 0) deep(levels - 1);
  pages[0] = pages[1];
}

TEST(stats, of_each_worker_add_up) {
  nopal::pool pool{{.workers = 3}};
  pool.run([] {
    nopal::counter left;
    nopal::counter to_come{64};
    for (int k = 0; k < 64; ++k) {
      nopal::spawn(left, [&] {
        deep(4);
        to_come.done();
        nopal::wait_for(to_come);  // all of them at once
      });
    }
    nopal::wait_for(left);
  });
  nopal::stats const all = pool.stats();
  nopal::worker_stats sum;
  for (nopal::worker_stats const& w : all.per_worker) {
    sum += w;
    EXPECT_LE(w.stacks_live, w.stacks_peak);
    EXPECT_GE(w.stacks_peak, 1u);  // each has its first
  }
  EXPECT_EQ(all.per_worker.size(), 3u);
  EXPECT_GE(all.stacks_peak, 64u);
  EXPECT_GE(all.unmaps, 1u);
  EXPECT_GE(all.pages_returned, all.unmaps);
  EXPECT_EQ(sum.stacks_live, all.stacks_live);
  EXPECT_GE(sum.stacks_peak, all.stacks_peak);
  EXPECT_EQ(sum.stack_pages, all.stack_pages);
  EXPECT_GT(all.stack_pages, 0u);
  EXPECT_GE(all.stack_pages_peak, 64u) << "64 stacks were in use at once";
  EXPECT_LE(all.purges, all.unmaps);
  EXPECT_EQ(sum.purges, all.purges);
  EXPECT_EQ(sum.unmaps, all.unmaps);
  EXPECT_EQ(sum.pages_returned, all.pages_returned);
  EXPECT_EQ(sum.fibers_spawned, 64u);
}

// For any choice of victims, with and without pauses, all fibers are found and each runs once.
TEST(stats, of_every_way_to_search) {
  for (auto const victims : {nopal::victims::by_distance, nopal::victims::uniform, nopal::victims::scan}) {
    for (bool const back_off : {true, false}) {
      nopal::pool pool{{.workers = 4, .victims = victims, .back_off = back_off}};
      std::atomic<int> ran{0};
      std::atomic<bool> stolen{false};
      pool.run([&] {
        nopal::counter left;
        unsigned const mine = nopal::this_worker::index();
        for (int k = 0; k < 64; ++k) {
          nopal::spawn(left, [&] {
            ++ran;
            if (nopal::this_worker::index() != mine) stolen = true;
          });
        }
        while (!stolen) std::this_thread::yield();  // this worker takes none: only thieves do
        nopal::wait_for(left);
      });
      EXPECT_EQ(ran, 64);
      EXPECT_GE(pool.stats().steals, 1u);
      if (!back_off) {
        EXPECT_EQ(pool.stats().pauses, 0u);
      }
    }
  }
}

// A stack belongs to the worker that has mapped it, whichever worker uses it later.
TEST(stats, of_native_stacks_by_their_maker) {
  nopal::core::stack_pool pool{64 << 10, nopal::reclaim::dontneed, 4, 2};
  nopal::core::stack* const first = pool.get(0);
  nopal::core::stack* const second = pool.get(1);
  nopal::core::stack* const third = pool.get(1);
  EXPECT_EQ(pool.counts(0).live, 1u);
  EXPECT_EQ(pool.counts(1).live, 2u);
  second->low()[0] = std::byte{1};
  pool.put(second);
  EXPECT_EQ(pool.counts(0).pages_returned, 0u);
  EXPECT_GE(pool.counts(1).pages_returned, 1u);
  EXPECT_EQ(pool.get(0), second);
  EXPECT_EQ(pool.counts(0).live, 1u);
  EXPECT_EQ(pool.counts(1).peak, 2u);
  pool.put(first);
  pool.put(second);
  pool.put(third);
}

}  // namespace
