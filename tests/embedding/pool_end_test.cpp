// A pool ends while its last jobs do: no submitted job is lost, and no thread that has finished accesses the pool afterwards (the address
// sanitizer would detect it).

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::task;

struct jobs {
  nopal::pool* pool;
  std::atomic<long> ran{0};
};

// Each job submits two more, down to `depth`, and ends before they do.
void breed(jobs& all, int depth) {
  if (depth > 0) {
    all.pool->detach([&all, depth] { breed(all, depth - 1); });
    all.pool->detach([&all, depth] { breed(all, depth - 1); });
  }
  all.ran.fetch_add(1, std::memory_order_relaxed);
}

TEST(pool_end, waits_for_all_that_its_jobs_submit) {
  for (long round = 0; round < test::scaled(500); ++round) {
    auto pool = std::make_unique<nopal::pool>(nopal::pool_options{.workers = 1 + static_cast<unsigned>(round % 4), .pin = false});
    jobs all{pool.get()};
    int const depth = static_cast<int>(round % 6);
    pool->detach([&all, depth] { breed(all, depth); });
    pool.reset();
    ASSERT_EQ(all.ran, (2L << depth) - 1);
  }
}

/// Takes long to destroy, and suspends its strand meanwhile.
struct ends_slowly {
  std::atomic<int>* ended;
  explicit ends_slowly(std::atomic<int>& e) : ended{&e} {}
  ends_slowly(ends_slowly&& o) noexcept : ended{std::exchange(o.ended, nullptr)} {}
  ends_slowly& operator=(ends_slowly&&) = delete;
  ~ends_slowly() {
    if (ended == nullptr) return;
    nopal::sleep_for(std::chrono::milliseconds{5});
    ++*ended;
  }
};

TEST(pool_end, waits_until_its_jobs_are_destroyed) {
  std::atomic<int> ended{0};
  int jobs = 0;
  for (unsigned const workers : {1U, 2U}) {
    for (int way = 0; way < 6; ++way) {
      nopal::semaphore dropped{0};
      nopal::pool p{{.workers = workers, .pin = false}};
      switch (way) {
        case 0: p.detach([e = ends_slowly{ended}] {}); break;
        case 1: p.detach([&] { return ends_slowly{ended}; }); break;
        case 2: static_cast<void>(p.submit([e = ends_slowly{ended}] {})); break;
        case 3:
          static_cast<void>(p.submit([&] {
            dropped.acquire();
            return ends_slowly{ended};
          }));
          break;
        case 4: static_cast<void>(p.submit([&] { dropped.acquire(); }).then([e = ends_slowly{ended}] {})); break;
        default: static_cast<void>(p.submit([](ends_slowly) -> task<void> { co_return; }, ends_slowly{ended})); break;
      }
      dropped.release();
      ++jobs;
    }
  }
  EXPECT_EQ(ended, jobs);
}

// A job whose fiber outlives it, and the other way round.
TEST(pool_end, waits_for_jobs_and_fibers_in_turn) {
  for (long round = 0; round < test::scaled(500); ++round) {
    auto pool = std::make_unique<nopal::pool>(nopal::pool_options{.workers = 2, .pin = false});
    std::atomic<int> ended{0};
    nopal::counter left;
    nopal::pool& p = *pool;
    p.detach([&] {
      p.spawn(left, [&] {
        nopal::yield();
        p.detach([&] {
          p.spawn(left, [&] { ++ended; });
          ++ended;
        });
        ++ended;
      });
      ++ended;
    });
    pool.reset();
    ASSERT_EQ(ended, 4);
    nopal::wait_for(left);
  }
}

// A thread from outside wakes the last strand of a pool, and the pool may be gone while it still does so.
TEST(pool_end, waits_for_whoever_wakes_its_last_stack) {
  for (long round = 0; round < test::scaled(500); ++round) {
    auto pool = std::make_unique<nopal::pool>(nopal::pool_options{.workers = 2, .pin = false});
    auto const gate = std::make_shared<nopal::counter>(1);
    std::atomic<bool> ended{false};
    pool->detach([&ended, gate] {
      nopal::wait_for(*gate);
      ended = true;
    });
    std::thread waker{[gate] { gate->done(); }};
    pool.reset();
    EXPECT_TRUE(ended);
    waker.join();
  }
}

task<int> go_round(nopal::pool& pool, int times) {
  for (int k = 0; k < times; ++k) co_await nopal::resume_on(pool.worker(static_cast<unsigned>(k) % pool.workers()));
  co_return times;
}

// A job that moves from worker to worker makes its last step while others still send it.
TEST(pool_end, waits_for_tasks_that_move) {
  for (long round = 0; round < test::scaled(500); ++round) {
    auto pool = std::make_unique<nopal::pool>(nopal::pool_options{.workers = 3, .pin = false});
    std::optional<nopal::future<int>> result{pool->submit(go_round, std::ref(*pool), 7)};
    if (round % 2 == 0) {
      EXPECT_EQ(pool->run(go_round, std::ref(*pool), 5), 5);
    }
    pool.reset();
    EXPECT_EQ(result->get(), 7);
  }
}

// Threads submit to the default pool, and others shut it down again and again.
TEST(pool_end, nothing_is_lost_between_submission_and_shutdown) {
  std::atomic<long> ran{0};
  std::atomic<bool> over{false};
  std::thread ender{[&] {
    while (!over) nopal::shutdown(std::chrono::milliseconds{1});
  }};
  std::vector<std::thread> givers;
  long const each = test::scaled(1000);
  for (int k = 0; k < 3; ++k) {
    givers.emplace_back([&] {
      for (long i = 0; i < each; ++i) {
        if (i % 3 == 0) {
          nopal::default_pool().submit([&] { ++ran; }).get();
        } else {
          nopal::default_pool().detach([&] { ++ran; });
        }
      }
    });
  }
  for (std::thread& t : givers) t.join();
  over = true;
  ender.join();
  EXPECT_EQ(nopal::shutdown(std::chrono::minutes{1}), "");
  EXPECT_EQ(ran, 3 * each);
}

}  // namespace
