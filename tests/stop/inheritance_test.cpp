// A request reaches all that was begun in its region, of any kind and on any worker, and nothing else.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/channel.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/priority.hpp"
#include "nopal/scope.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::task;

std::atomic<int> wrong{0};
std::atomic<int> leaves{0};

void check(bool asked) {
  leaves.fetch_add(1, std::memory_order_relaxed);
  if (nopal::stop_requested() != asked) wrong.fetch_add(1, std::memory_order_relaxed);
}

std::stop_source const& requested() {
  static std::stop_source const s = [] {
    std::stop_source made;
    made.request_stop();
    return made;
  }();
  return s;
}
std::stop_source const& never() {
  static std::stop_source const s;
  return s;
}

// Runs f(asked?) in a region of the i-th kind.
template <class F>
void in_region(std::size_t i, bool asked, F f) {
  switch (i % 4) {
    case 0: return nopal::with_stop(requested().get_token(), [&] { f(true); });
    case 1: return nopal::without_stop([&] { f(false); });
    case 2: return nopal::with_stop(never().get_token(), [&] { f(asked); });
    default: return f(asked);
  }
}

void halves(bool asked, int depth) {
  check(asked);
  if (depth == 0) return;
  nopal::parallel_invoke([&] { halves(asked, depth - 1); }, [&] { halves(asked, depth - 1); });
  check(asked);
}
void scopes(bool asked, int depth) {
  check(asked);
  if (depth == 0) return;
  nopal::scope s;
  s.fork([=] { scopes(asked, depth - 1); });
  scopes(asked, depth - 1);
  check(asked);
  s.join();
  check(asked);
}
task<void> tasks(bool asked, int depth) {
  check(asked);
  if (depth == 0) co_return;
  co_await nopal::fork(tasks, asked, depth - 1);
  check(asked);
  co_await nopal::call(tasks, asked, depth - 1);
  check(asked);
  co_await nopal::join;
  check(asked);
}
// Fibers must not end in `stopped` while another waits for their counter.
void fibers(bool asked, int depth) {
  check(asked);
  if (depth == 0) return;
  nopal::counter left;
  for (int k = 0; k < 2; ++k) nopal::spawn(left, [=] { fibers(asked, depth - 1); });
  nopal::yield();
  check(asked);
  nopal::without_stop([&] { nopal::wait_for(left); });
  check(asked);
}

// Each level in a region of its own, of another kind, under outer forks that may or may not be stolen.
void rotating(std::size_t i, bool asked, int depth);

task<void> rotating_task(std::size_t i, bool asked, int depth) {
  check(asked);
  if (depth == 0) co_return;
  co_await nopal::fork(rotating_task, i + 1, asked, depth - 1);
  check(asked);
  rotating(i + 2, asked, depth - 1);
  check(asked);
  co_await nopal::call(rotating_task, i + 3, asked, depth - 1);
  co_await nopal::join;
  check(asked);
}

void rotating(std::size_t i, bool asked, int depth) {
  check(asked);
  if (depth == 0) return;
  nopal::parallel_invoke(
      [&] {
        in_region(i, asked, [&](bool a) {
          check(a);
          nopal::scope s;
          s.fork([=] { rotating(i + 1, a, depth - 1); });
          check(a);
          rotating(i + 2, a, depth - 1);
          s.join();
          check(a);
        });
        check(asked);
      },
      [&] {
        check(asked);
        in_region(i + 1, asked, [&](bool a) {
          nopal::sync_wait(rotating_task, i, a, depth - 1);
          check(a);
          nopal::counter left;
          nopal::spawn(left, [=] { rotating(i + 3, a, depth - 1); });
          nopal::without_stop([&] { nopal::wait_for(left); });
          check(a);
        });
        check(asked);
      },
      [&] { in_region(i + 2, asked, [&](bool a) { halves(a, depth); }); });
  check(asked);
}

template <class F>
void on_pools(F&& f) {
  std::vector<nopal::pool_options> options{{.workers = 1},
                                           {.workers = 2, .schedule = nopal::schedule::steal_always},
                                           {.workers = 3, .schedule = nopal::schedule::steal_always},
                                           {.workers = 4},
                                           {.workers = 3, .resume = nopal::resume::home}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    options.push_back({.workers = 3, .seed = seed, .schedule = nopal::schedule::steal_at_random});
  }
  for (nopal::pool_options const& o : options) {
    wrong = leaves = 0;
    nopal::pool pool{o};
    f(pool);
    EXPECT_FALSE(nopal::stop_requested());
    EXPECT_GT(leaves.load(), 0);
    EXPECT_EQ(wrong.load(), 0) << "of " << leaves.load();
    if (o.schedule == nopal::schedule::steal_always) {
      EXPECT_GT(pool.stats().steals, 0u);
    }
    pool.run([&] { halves(false, 6); });
    EXPECT_EQ(wrong.load(), 0) << "what comes later is in no region";
  }
}

TEST(inheritance, of_a_submitted_job) {
  on_pools([](nopal::pool& pool) {
    auto const t = requested().get_token();
    pool.submit(t, [] { halves(true, 6); }).get();
    pool.submit(t, [] { scopes(true, 6); }).get();
    pool.submit(t, tasks, true, 6).get();
    pool.submit(t, [] { fibers(true, 4); }).get();
    pool.submit(never().get_token(), [] { halves(false, 6); }).get();
    pool.submit([] { halves(false, 6); }).get();
  });
}

TEST(inheritance, of_a_call) {
  on_pools([](nopal::pool& pool) {
    pool.run([] {
      auto const t = requested().get_token();
      nopal::with_stop(t, [] { halves(true, 6); });
      check(false);
      nopal::with_stop(t, [] { scopes(true, 6); });
      check(false);
      nopal::with_stop(t, tasks, true, 6);
      check(false);
      nopal::with_stop(t, [] { fibers(true, 4); });
      check(false);
    });
  });
}

TEST(inheritance, of_regions_in_regions) {
  on_pools([](nopal::pool& pool) {
    for (std::size_t i = 0; i < 4; ++i) pool.run([&] { rotating(i, false, 4); });
  });
}

TEST(inheritance, from_a_thread_off_a_pool) {
  on_pools([](nopal::pool& pool) {
    nopal::with_stop(requested().get_token(), [&] {
      check(true);
      pool.run([] { halves(true, 5); });
      pool.run(tasks, true, 5);
      pool.submit([] { scopes(true, 5); });
      nopal::counter left;
      pool.spawn(left, [] { fibers(true, 3); });
      nopal::without_stop([&] { nopal::wait_for(left); });
      check(true);
    });
    check(false);
  });
}

TEST(inheritance, by_forks_off_a_pool) {
  wrong = leaves = 0;
  nopal::with_stop(requested().get_token(), [] {
    halves(true, 5);
    scopes(true, 5);
    nopal::sync_wait(tasks, true, 5);
    fibers(true, 3);
  });
  halves(false, 5);
  scopes(false, 5);
  EXPECT_EQ(wrong.load(), 0) << "of " << leaves.load();
}

TEST(inheritance, a_region_inside_of_without_stop_is_not_asked_by_the_pool) {
  nopal::pool pool{{.workers = 2}};
  pool.run([&] {
    pool.request_stop();
    EXPECT_TRUE(nopal::stop_requested());
    nopal::without_stop([] {
      nopal::with_stop(std::stop_token{}, [] {
        EXPECT_FALSE(nopal::stop_requested());
        nopal::parallel_invoke([] { EXPECT_FALSE(nopal::stop_requested()); }, [] { EXPECT_FALSE(nopal::stop_requested()); });
      });
      nopal::with_stop(requested().get_token(), [] { EXPECT_TRUE(nopal::stop_requested()); });
    });
  });
}

/// Looks, when it is destroyed, whether the region in which that happens still lives: else the next one that begins is the same.
struct looks_at_end {
  static inline std::atomic<int> looks, asked, outside, in_dead_region;
  static void begin() { looks = asked = outside = in_dead_region = 0; }

  bool armed = true;
  looks_at_end() = default;
  looks_at_end(looks_at_end&& o) noexcept : armed{std::exchange(o.armed, false)} {}
  looks_at_end& operator=(looks_at_end&&) = delete;
  ~looks_at_end() {
    if (!armed) return;
    nopal::core::region_id const mine = nopal::core::region_here();
    outside += mine == nopal::core::no_region;
    asked += nopal::stop_requested();
    nopal::with_stop(std::stop_token{}, [&] { in_dead_region += nopal::core::region_here() == mine; });
    ++looks;
  }
};

TEST(inheritance, of_what_a_job_is_made_of_at_its_end) {
  looks_at_end::begin();
  int jobs = 0;
  nopal::semaphore dropped{0};
  auto const t = requested().get_token();
  auto const wait = [&] { nopal::without_stop([&] { dropped.acquire(); }); };
  {
    nopal::pool pool{{.workers = 1}};
    for (int k = 0; k < 10; ++k) {
      nopal::with_stop(t, [&] {
        pool.detach([e = looks_at_end{}] {});
        pool.detach(nopal::priority::high, [e = looks_at_end{}] {});
        pool.detach([](looks_at_end) -> task<void> { co_return; }, looks_at_end{});
        pool.detach([] { return looks_at_end{}; });
      });
      static_cast<void>(pool.submit(t, [&, e = looks_at_end{}] { wait(); }));
      static_cast<void>(pool.submit(t, [&, e = looks_at_end{}] {
        wait();
        return &e;
      }));
      static_cast<void>(pool.submit(t, [&] {
        wait();
        return looks_at_end{};
      }));
      dropped.release(3);
      pool.submit(t, [e = looks_at_end{}] {}).get();
      jobs += 8;
    }
  }
  EXPECT_EQ(looks_at_end::looks, jobs);
  EXPECT_EQ(looks_at_end::outside, 0);
  EXPECT_EQ(looks_at_end::asked, jobs);
  EXPECT_EQ(looks_at_end::in_dead_region, 0);
}

// The job and the fiber outlive the call in which their region began.
TEST(inheritance, by_what_outlives_the_call) {
  on_pools([](nopal::pool& pool) {
    std::stop_source source;
    nopal::channel<int> go{4};
    nopal::counter left;
    nopal::future<void> job;
    pool.run([&] {
      nopal::with_stop(source.get_token(), [&] {
        nopal::spawn(left, [&] {
          nopal::without_stop([&] { static_cast<void>(go.pop()); });
          halves(true, 4);
        });
        job = pool.submit([&] {
          nopal::without_stop([&] { static_cast<void>(go.pop()); });
          check(true);
        });
      });
      check(false);
    });
    source.request_stop();
    go.push(1);
    go.push(2);
    nopal::wait_for(left);
    job.get();
  });
}

// Each half waits for the other, and continues on another worker, where it forks.
TEST(inheritance, across_waits) {
  on_pools([](nopal::pool& pool) {
    pool.run([] {
      nopal::with_stop(requested().get_token(), [] {
        nopal::semaphore one{0}, other{0};
        nopal::scope s;
        s.fork([&] {
          for (int k = 0; k < 20; ++k) one.acquire(), halves(true, 2), other.release();
        });
        s.fork([&] {
          for (int k = 0; k < 20; ++k) one.release(), other.acquire(), scopes(true, 2);
        });
        s.join();
        check(true);
      });
      halves(false, 3);
    });
  });
}

task<void> moving(nopal::pool& other, bool asked) {
  co_await nopal::call(tasks, asked, 4);
  co_await nopal::resume_on(other);
  check(asked);
  co_await nopal::call(tasks, asked, 4);
  co_await nopal::resume_on(other.worker(0));
  check(asked);
}
TEST(inheritance, by_a_task_that_moves) {
  nopal::pool other{{.workers = 2}};
  on_pools([&](nopal::pool& pool) {
    pool.submit(requested().get_token(), moving, std::ref(other), true).get();
    pool.run(moving, std::ref(other), false);
  });
}

TEST(inheritance, by_jobs_of_another_pool) {
  nopal::pool other{{.workers = 2}};
  on_pools([&](nopal::pool& pool) {
    pool.submit(requested().get_token(),
                [&] {
                  halves(true, 4);
                  other.run([] { halves(true, 4); });
                  auto f = other.submit([] { scopes(true, 4); });
                  nopal::without_stop([&] { f.get(); });
                })
        .get();
    other.run([] { halves(false, 4); });
  });
}

// A request after it had begun, on both sides of each fork.
TEST(inheritance, while_it_runs) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 20; ++round) {
    std::stop_source source;
    std::atomic<int> running{0};
    auto f = pool.submit(source.get_token(), [&] {
      std::function<void(int)> const tree = [&](int depth) {
        if (depth == 0) {
          ++running;
          while (!nopal::stop_requested()) nopal::yield();
          return;
        }
        nopal::parallel_invoke([&] { tree(depth - 1); }, [&] { tree(depth - 1); });
      };
      tree(4);
    });
    while (running == 0) std::this_thread::yield();
    source.request_stop();
    f.get();
    EXPECT_EQ(running.load(), 16);
  }
}

}  // namespace
