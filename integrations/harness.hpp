#pragma once

// What the tests of all libraries share: the pools that they run on, work at once in all that may run on a pool, and callers that are asked to
// stop.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <stop_token>
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

inline constexpr int stops = 4;

/// How many of `stops` calls of right(use(pool)) return true where the caller is asked to stop: by a token, off a pool and on one; on a thief,
/// by an exception; and with a whole pool. use(pool) returns what holds while the pool, of two workers, is in use.
template <class Use, class F>
int right_where_stopped(Use const& use, F const& right) {
  std::stop_source source;
  source.request_stop();
  int found = 0;
  {
    nopal::pool pool{{.workers = 2}};
    auto in_use = use(pool);
    auto const in_region = [&] { return nopal::with_stop(source.get_token(), [&] { return right(in_use); }); };
    found += in_region();
    found += pool.run(in_region);
    std::atomic<bool> is_stolen{false};
    auto const throws = [&] {
      while (!is_stolen) std::this_thread::yield();
      throw std::runtime_error{"in the first half"};
    };
    auto const is_asked = [&] {
      is_stolen = true;
      while (!nopal::stop_requested()) std::this_thread::yield();
      found += right(in_use);
    };
    EXPECT_THROW(pool.run([&] { nopal::parallel_invoke(throws, is_asked); }), std::runtime_error);
  }
  nopal::pool pool{{.workers = 2}};
  auto in_use = use(pool);
  pool.request_stop();
  return found + pool.run([&] { return right(in_use); });
}

}  // namespace test
