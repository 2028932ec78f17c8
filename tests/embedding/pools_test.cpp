// A pool that is made, used and destroyed on a worker of another pool.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::counter;
using nopal::pool;
using nopal::task;

// The outer pool's only worker destroys the inner pool, and a job of that waits for the worker. If the destructor kept the worker, both
// would wait for ever.
TEST(pools, a_pool_that_is_destroyed_on_a_worker_leaves_it_to_others) {
  pool outer{{.workers = 1}};
  std::atomic<int> ran{0};
  outer.run([&] {
    pool inner{{.workers = 2}};
    for (int k = 0; k < 20; ++k) inner.detach([&] { outer.run([&] { ++ran; }); });
  });
  EXPECT_EQ(ran, 20);
}

// As above, with fibers left in the inner pool: its end checks for these from time to time.
TEST(pools, a_pool_whose_fibers_wait_for_the_destroying_worker_ends) {
  pool outer{{.workers = 1}};
  counter done;
  outer.run([&] {
    counter let_go{1};
    auto inner = std::make_unique<pool>(nopal::pool_options{.workers = 1});
    inner->run([&] {
      for (int k = 0; k < 3; ++k) nopal::spawn(done, [&] { nopal::wait_for(let_go); });
    });
    nopal::spawn([&] { let_go.done(); });  // on the outer pool
    inner.reset();
  });
  nopal::wait_for(done);
}

TEST(pools, many_pools_come_and_go_on_workers) {
  pool outer{{.workers = 3}};
  std::atomic<long> sum{0};
  outer.run([&] {
    counter left;
    for (int k = 0; k < 12; ++k) {
      nopal::spawn(left, [&] {
        auto inner = std::make_unique<pool>(nopal::pool_options{.workers = 2});
        inner->detach([&] { nopal::parallel_invoke([&] { sum += 1; }, [&] { sum += outer.run([] { return 2; }); }); });
        auto const in_a_task = [](std::atomic<long>& s) -> task<void> {
          s += 4;
          co_return;
        };
        inner->detach(in_a_task, std::ref(sum));
        inner.reset();
      });
    }
    nopal::wait_for(left);
  });
  EXPECT_EQ(sum, 12 * 7);
}

// Two pools. Each ends, on the other's worker, a pool with a job that needs the first.
TEST(pools, end_on_each_other) {
  pool a{{.workers = 1}}, b{{.workers = 1}};
  std::atomic<int> ran{0};
  auto const both_ways = [&](pool& here, pool& there) {
    return here.submit([&here, &there, &ran] {
      pool inner{{.workers = 1}};
      inner.detach([&] {
        there.run([&] {
          pool deeper{{.workers = 1}};
          deeper.detach([&] { here.run([&] { ++ran; }); });
        });
      });
    });
  };
  for (int k = 0; k < 10; ++k) {
    auto one = both_ways(a, b);
    auto two = both_ways(b, a);
    one.get();
    two.get();
  }
  EXPECT_EQ(ran, 20);
}

}  // namespace
