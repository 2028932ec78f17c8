// Waits of functions that run on a stack which nopal did not make: for tasks, jobs, fibers and locks.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "../fib.hpp"
#include "foreign_stack.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::sync_wait;
using nopal::task;
using test::fib_task;
using test::foreign_stack;
using test::on_both_sides;
using test::side;
using test::native::fib;

/// Deeper than any native stack.
task<long> chain(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await nopal::call(chain, n - 1);
}

TEST(foreign_stack, tasks_do_not_nest_on_top_of_it) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    on_both_sides(pool, [](side s) {
      foreign_stack f{s};
      f.run([&] {
        EXPECT_EQ(sync_wait(chain, 20'000L), 20'000);
        EXPECT_EQ(sync_wait(fib_task, 15L), 610);
      });
      EXPECT_TRUE(f.is_intact());
    });
  }
}

TEST(foreign_stack, runs_and_waits_for_jobs) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    nopal::pool other{{.workers = 1}};
    on_both_sides(pool, [&](side s) {
      foreign_stack f{s};
      f.run([&] {
        EXPECT_EQ(pool.run(fib, 12L), 144);
        EXPECT_EQ(pool.run(chain, 5'000L), 5'000);
        EXPECT_EQ(other.run(fib_task, 12L), 144);
        EXPECT_EQ(pool.submit(fib, 12L).get(), 144);
      });
      EXPECT_TRUE(f.is_intact());
    });
  }
}

TEST(foreign_stack, waits_for_fibers) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    on_both_sides(pool, [](side s) {
      foreign_stack f{s};
      f.run([&] {
        for (int round = 0; round < 20; ++round) {
          nopal::counter all{8};
          std::atomic<int> done{0};
          for (int k = 0; k < 8; ++k) {
            nopal::spawn([&] {
              nopal::yield();
              ++done;
              all.done();
            });
          }
          nopal::wait_for(all);
          EXPECT_EQ(done, 8);
          nopal::yield();
        }
        nopal::sleep_for(std::chrono::milliseconds{2});
      });
      EXPECT_TRUE(f.is_intact());
    });
  }
}

TEST(foreign_stack, locks_and_passes_on) {
  for (unsigned const workers : {1u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    on_both_sides(pool, [](side s) {
      foreign_stack f{s};
      nopal::mutex m;
      nopal::channel<int> c{1};
      long sum = 0, received = 0;
      f.run([&] {
        nopal::counter all{4};
        for (int k = 0; k < 4; ++k) {
          nopal::spawn([&, k] {
            foreign_stack mine{k % 2 == 0 ? side::above : side::below};
            mine.run([&] {
              for (int n = 0; n < 50; ++n) {
                std::lock_guard const guard{m};
                long const before = sum;
                nopal::yield();
                sum = before + 1;
              }
              c.push(k);
            });
            EXPECT_TRUE(mine.is_intact());
            all.done();
          });
        }
        for (int k = 0; k < 4; ++k) received += c.pop().value();
        nopal::wait_for(all);
      });
      EXPECT_EQ(sum, 200);
      EXPECT_EQ(received, 6);
      EXPECT_TRUE(f.is_intact());
    });
  }
}

}  // namespace
