#pragma once

// What the tests of all libraries share: the pools that they run on, and work at once in all that may run on a pool.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <nopal/nopal.hpp>

namespace test {

/// f(pool) on pools of several sizes, and under schedules that force steals.
template <class F>
void on_pools(F const& f) {
  for (unsigned const workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    f(pool);
  }
  for (nopal::schedule const s : {nopal::schedule::steal_always, nopal::schedule::steal_at_random}) {
    SCOPED_TRACE(s == nopal::schedule::steal_always ? "steal_always" : "steal_at_random");
    nopal::pool pool{{.workers = 3, .schedule = s}};
    f(pool);
    EXPECT_GT(pool.stats().steals, 0u);
  }
}

inline constexpr int places = 12;

/// f(k) for each k of [0, places), at once: in loops, fibers and a task on the pool, on another pool's worker, and on threads.
template <class F>
void at_once(nopal::pool& pool, F const& f) {
  nopal::pool other{{.workers = 1}};
  std::thread outside{[&] { f(0); }};
  std::thread in_place_of_a_worker{[&] { pool.run([&] { nopal::parallel_for(1, 3, f, nopal::grain{1}); }); }};
  nopal::counter left;
  for (int k = 3; k < 5; ++k) pool.spawn(left, [&f, k] { f(k); });
  nopal::future<void> const task = pool.submit(
      [](F const& g) -> nopal::task<void> {
        g(5);
        co_return;
      },
      f);
  nopal::future<void> const elsewhere = other.submit([&f] { f(6); });
  pool.run([&] { nopal::parallel_for(7, 11, f, nopal::grain{1}); });
  f(11);
  outside.join();
  in_place_of_a_worker.join();
  nopal::wait_for(left);
  task.wait();
  elsewhere.wait();
}

/// How many of the calls of right() at once return true.
template <class F>
int right_at_once(nopal::pool& pool, F const& right) {
  std::atomic<int> found{0};
  at_once(pool, [&](int) { found += right(); });
  return found;
}

}  // namespace test
