// Priorities: what begins first, what makes way for it, what inherits it, and that nothing starves.

#include "nopal/priority.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/after.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/fiber.hpp"
#include "nopal/graph.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/promise.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::current_priority;
using nopal::priority;

bool under_schedule() {
  char const* const s = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): nothing changes it
  return s != nullptr && *s != '\0';
}

/// A worker that is busy until let_go: nothing else begins there meanwhile.
struct busy_worker {
  explicit busy_worker(nopal::pool& pool)
      : job{pool.submit([this] {
          has_begun.set_value();
          while (!is_let_go) std::this_thread::yield();
        })} {
    has_begun.get_future().get();
  }
  void let_go() {
    is_let_go = true;
    job.get();
  }
  std::atomic<bool> is_let_go{false};
  nopal::promise<void> has_begun;
  nopal::future<void> job;
};

/// What `f` returns, which gets a pool of one worker, unless it has taken so long that low work may have begun like high work: then it is called
/// again. With another pool: the timer of the one before may still be about to look at low work.
template <class F>
std::string once_in_time(F f) {
  for (;;) {
    nopal::pool pool{{.workers = 1}};
    auto const began = std::chrono::steady_clock::now();
    std::string const order = f(pool);
    if (std::chrono::steady_clock::now() - began < std::chrono::nanoseconds{nopal::core::tuning::low_waits}) return order;
  }
}

TEST(priority, decides_what_begins_first) {
  if (under_schedule()) GTEST_SKIP() << "low work may wait long in simulated time";
  auto const try_once = [](nopal::pool& pool) {
    busy_worker first{pool};
    std::string order;
    std::vector<nopal::future<void>> all;
    for (int round = 0; round < 3; ++round) {
      all.push_back(pool.submit(priority::low, [&] { order += 'l'; }));
      all.push_back(pool.submit([&] { order += 'n'; }));
      all.push_back(pool.submit(priority::high, [&] { order += 'h'; }));
    }
    first.let_go();
    for (auto& f : all) f.get();
    return order;
  };
  EXPECT_EQ(once_in_time(try_once), "hhhnnnlll");
}

TEST(priority, of_fibers_too_and_the_oldest_first) {
  auto const try_once = [](nopal::pool& pool) {
    std::string order;
    nopal::counter all;
    pool.run([&] {
      for (char const c : {'x', 'y', 'z'}) nopal::spawn(priority::low, all, [&, c] { order += c; });
      nopal::spawn(all, [&] { order += 'n'; });
      for (char const c : {'a', 'b', 'c'}) nopal::spawn(priority::high, all, [&, c] { order += c; });
      nopal::wait_for(all);
    });
    return order;
  };
  EXPECT_EQ(once_in_time(try_once), "abcnxyz");
}

TEST(priority, is_inherited) {
  nopal::pool pool{{.workers = 2}};
  for (priority const p : {priority::low, priority::normal, priority::high}) {
    std::atomic<int> wrong{0};
    auto const look = [&] { wrong += current_priority() != p; };
    pool.submit(p,
                [&] {
                  look();
                  nopal::counter c;
                  nopal::spawn(c, look);
                  nopal::pool::current()->spawn(c, [&] { nopal::spawn(c, look); });
                  nopal::parallel_invoke(look, look, look);
                  nopal::parallel_for(0, 100, [&](int) { look(); });
                  nopal::scope s;
                  s.fork(look);
                  nopal::pool::current()->submit(look).get();
                  nopal::with_stop(std::stop_token{}, look);
                  nopal::with_time_limit(1h, look);
                  nopal::without_stop(look);
                  nopal::sync_wait([&]() -> nopal::task<void> {
                    look();
                    co_return;
                  });
                  nopal::graph g;
                  auto const a = g.node(look);
                  auto const b = g.node(look);
                  static_cast<void>(g.node(look, nopal::after(a, b)));
                  g.run();
                  nopal::pool::current()->submit([] { return 1; }).then([&](int) { look(); }).get();
                  s.join();
                  nopal::wait_for(c);
                })
        .get();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(current_priority(), priority::normal);
}

TEST(priority, of_its_own_is_for_what_begins_there_only) {
  nopal::pool pool{{.workers = 2}};
  pool.submit(priority::high,
              [] {
                nopal::pool& here = *nopal::pool::current();
                here.submit(priority::low, [] { EXPECT_EQ(current_priority(), priority::low); }).get();
                here.submit(priority::normal, [] { EXPECT_EQ(current_priority(), priority::normal); }).get();
                EXPECT_EQ(current_priority(), priority::high);
              })
      .get();
}

TEST(priority, goes_before_all_other_arguments) {
  nopal::pool pool{{.workers = 2}};
  auto const here = [] { return current_priority(); };
  std::stop_source stop;
  EXPECT_EQ(pool.submit(priority::high, here).get(), priority::high);
  EXPECT_EQ(pool.submit(priority::high, stop.get_token(), here).get(), priority::high);
  auto const before = pool.submit([] {}).share();
  EXPECT_EQ(pool.submit(priority::high, nopal::after(before), here).get(), priority::high);
  EXPECT_EQ(pool.submit(priority::low, [](int a, int b) { return a + b; }, 1, 2).get(), 3);
  EXPECT_EQ(
      pool.submit(priority::high, [](std::unique_ptr<int> p) -> nopal::task<int> { co_return *p; }, std::make_unique<int>(4)).get(), 4);
  EXPECT_EQ(pool.run(priority::high, here), priority::high);
  int x = 0;
  static_assert(std::is_same_v<decltype(pool.run(priority::low, [&]() -> int& { return x; })), int&>);
  nopal::graph g;
  std::atomic<int> ran{0};
  static_cast<void>(g.node([&] { ran += current_priority() == priority::high; }));
  pool.submit(priority::high, g).get();
  nopal::counter c;
  auto const count = [&] { ran += current_priority() == priority::low; };
  pool.spawn(priority::low, c, count);
  pool.spawn(priority::low, nopal::after(before), c, count);
  nopal::spawn(priority::low, c, count);  // on the default pool
  nopal::spawn(priority::low, nopal::after(before), c, count);
  nopal::wait_for(c);
  nopal::promise<void> p;
  pool.detach(priority::low, [&] { p.set_value(); });
  p.get_future().get();
  pool.spawn(priority::low, [&] { ++ran; });
  nopal::spawn(priority::low, nopal::after(before), [&] { ++ran; });
  while (ran != 7) std::this_thread::sleep_for(1ms);
}

// The children of a scope of a thread outside are carried to the workers, one after the other. Their regions may end before it.
TEST(priority, of_a_scope_off_a_pool) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<int> normal{0};
  auto const child = [&] { normal += current_priority() == priority::normal; };
  for (int round = 0; round < 20; ++round) {
    nopal::scope s;
    std::stop_source stop;
    nopal::with_stop(stop.get_token(), [&] { s.fork(child); });
    auto low = pool.submit(priority::low, [] {});
    for (int k = 0; k < 9; ++k) s.fork(child);
    s.join();
    low.get();
  }
  EXPECT_EQ(normal, 200);
}

/// Ends where nothing is stolen too, and nobody else looks into a worker's queues.
TEST(priority, low_work_begins_where_nothing_is_stolen) {
  if (under_schedule()) GTEST_SKIP() << "not under a controlled schedule";
  nopal::pool pool{{.workers = 2, .experimental = {.steal = false}}};
  std::atomic<bool> done{false};
  std::vector<nopal::future<void>> busy;
  for (int k = 0; k < 2; ++k) {
    busy.push_back(pool.submit([&] {
      while (!done) nopal::parallel_invoke([] {}, [] {});
    }));
  }
  std::vector<nopal::future<void>> low;
  for (int k = 0; k < 4; ++k) low.push_back(pool.submit(priority::low, [] {}));
  for (auto& f : low) f.get();
  pool.submit(priority::high, [&] { done = true; }).get();
  for (auto& f : busy) f.get();
  for (int round = 0; round < 200; ++round) {  // from rest
    auto a = pool.submit(priority::low, [] {});
    auto b = pool.submit(priority::high, [] {});
    a.get();
    b.get();
  }
}

TEST(priority, keeps_stop_requests) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source stop;
  auto a = pool.submit(priority::high, stop.get_token(), [] { nopal::sleep_for(1h); });
  auto b = nopal::with_stop(stop.get_token(), [&] { return pool.submit(priority::low, [] { nopal::sleep_for(1h); }); });
  auto c = pool.submit(priority::low, [] { nopal::sleep_for(1h); });
  stop.request_stop();
  EXPECT_THROW(a.get(), nopal::stopped);
  EXPECT_THROW(b.get(), nopal::stopped);
  EXPECT_FALSE(c.wait_for(1ms));
  pool.request_stop();
  EXPECT_THROW(c.get(), nopal::stopped);
}

TEST(priority, keeps_exceptions) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_THROW(pool.submit(priority::high, [] { throw 1; }).get(), int);
  EXPECT_THROW(pool.run(priority::low, [] { throw 1; }), int);
  struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(throws_when_copied const&) { throw 2; }
    void operator()() const {}
  };
  throws_when_copied const f;
  EXPECT_THROW(static_cast<void>(pool.submit(priority::high, f)), int);
  nopal::counter c;
  EXPECT_THROW(pool.spawn(priority::high, c, f), int);
  EXPECT_EQ(current_priority(), priority::normal);
  nopal::wait_for(c);
}

long forks(int depth) {
  if (depth == 0) return 1;
  long a = 0;
  long b = 0;
  nopal::parallel_invoke([&] { a = forks(depth - 1); }, [&] { b = forks(depth - 1); });
  return a + b;
}
nopal::task<long> tasks(int depth) {
  if (depth == 0) co_return 1;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, tasks, depth - 1);
  co_await nopal::call(&b, tasks, depth - 1);
  co_await nopal::join;
  co_return a + b;
}
nopal::task<long> tasks_until(std::atomic<bool> const* until) {
  long n = 0;
  while (!*until) {
    long more = 0;
    co_await nopal::call(&more, tasks, 10);
    n += more;
  }
  co_return n;
}

/// What busies a worker until `until`, without a search for work.
class makes_way : public testing::TestWithParam<int> {
 protected:
  // One on each worker, before any helps with the work of another.
  static void meet(std::atomic<unsigned>& busy, unsigned workers) {
    ++busy;
    while (busy != workers) std::this_thread::yield();
  }
  static void work(std::atomic<bool> const& until) {
    switch (GetParam()) {
      case 0:
        while (!until) static_cast<void>(forks(10));
        break;
      case 1:
        while (!until) {
          nopal::scope s;
          for (int k = 0; k < 100; ++k) s.fork([] { static_cast<void>(forks(2)); });
        }
        break;
      case 2:
        while (!until) nopal::parallel_for(0, 1000, [](int) { static_cast<void>(forks(1)); });
        break;
      default: static_cast<void>(nopal::sync_wait(tasks_until, &until)); break;
    }
  }
  // Each worker is busy until a job of that priority, from outside, has run.
  static void job_from_outside(priority p, unsigned workers) {
    nopal::pool pool{{.workers = workers}};
    std::atomic<bool> done{false};
    std::atomic<unsigned> busy{0};
    std::vector<nopal::future<void>> all;
    for (unsigned k = 0; k < workers; ++k) {
      all.push_back(pool.submit([&] {
        meet(busy, workers);
        work(done);
      }));
    }
    while (busy != workers) std::this_thread::sleep_for(1ms);
    pool.submit(p, [&] { done = true; }).get();
    for (auto& f : all) f.get();
  }
};

// Each worker is busy with work that ends when the high job has run, and never looks for other work.
TEST_P(makes_way, for_a_high_job) {
  for (unsigned const workers : {1U, 2U, 5U}) {
    nopal::pool pool{{.workers = workers}};
    for (priority const p : {priority::low, priority::normal}) {
      std::atomic<bool> done{false};
      std::atomic<unsigned> busy{0};
      std::vector<nopal::future<void>> all;
      for (unsigned k = 0; k < workers; ++k) {
        all.push_back(pool.submit(p, [&, k] {
          if (!under_schedule()) meet(busy, workers);
          if (k == 0) pool.detach(priority::high, [&] { done = true; });
          work(done);
        }));
      }
      for (auto& f : all) f.get();
    }
  }
}

TEST_P(makes_way, for_a_high_job_from_outside) {
  if (under_schedule()) GTEST_SKIP() << "not under a controlled schedule";
  for (unsigned const workers : {1U, 2U, 5U}) job_from_outside(priority::high, workers);
}

TEST_P(makes_way, for_a_high_stack_that_is_woken) {
  if (under_schedule()) GTEST_SKIP() << "not under a controlled schedule";
  nopal::pool pool{{.workers = 1}};
  std::atomic<bool> done{false};
  nopal::promise<int> p;
  nopal::promise<void> waits;
  auto high = pool.submit(priority::high, [&] {
    waits.set_value();
    int const x = p.get_future().get();
    done = true;
    return x;
  });
  waits.get_future().get();
  std::atomic<bool> busy{false};
  auto other = pool.submit([&] {
    busy = true;
    work(done);
  });
  while (!busy) std::this_thread::sleep_for(1ms);
  p.set_value(7);
  EXPECT_EQ(high.get(), 7);
  other.get();
}

// Both kinds of normal work have no end of their own: what only forks, and jobs that begin the next.
TEST_P(makes_way, for_low_work_in_the_end) {
  if (under_schedule()) GTEST_SKIP() << "not under a controlled schedule";
  for (unsigned const workers : {1U, 2U}) job_from_outside(priority::low, workers);
}

INSTANTIATE_TEST_SUITE_P(forks_scopes_loops_tasks, makes_way, testing::Range(0, 4), testing::PrintToStringParamName());

/// Jobs that begin the next one of their kind until `until`.
void begins_the_next(nopal::pool& pool, nopal::counter& all, std::atomic<bool> const& until) {
  if (until) return;
  pool.spawn(all, [&] { begins_the_next(pool, all, until); });
}

TEST(priority, starves_nothing) {
  for (priority const flood : {priority::high, priority::normal}) {
    if (flood == priority::normal && under_schedule()) GTEST_SKIP() << "not under a controlled schedule";
    for (unsigned const workers : {1U, 3U}) {
      nopal::pool pool{{.workers = workers}};
      std::atomic<bool> done{false};
      nopal::counter all;
      for (unsigned k = 0; k < 4 * workers; ++k) pool.spawn(flood, all, [&] { begins_the_next(pool, all, done); });
      // A job of the next lower priority that forks, and so may be interrupted.
      pool.submit(flood == priority::high ? priority::normal : priority::low,
                  [&] {
                    for (int k = 0; k < 5; ++k) static_cast<void>(forks(5));
                    done = true;
                  })
          .get();
      nopal::wait_for(all);
    }
  }
}

TEST(priority, is_kept_where_nothing_is_stolen_and_where_stacks_stay) {
  nopal::pool apart{{.workers = 2, .experimental = {.steal = false}}};
  nopal::pool home{{.workers = 2, .resume = nopal::resume::home}};
  for (nopal::pool* const pool : {&apart, &home}) {
    std::atomic<int> ran{0};
    std::vector<nopal::future<void>> all;
    for (int k = 0; k < 100; ++k) {
      for (priority const p : {priority::low, priority::normal, priority::high}) {
        all.push_back(pool->submit(p, [&, p] {
          ran += current_priority() == p;
          nopal::sleep_for(10us);
          ran += current_priority() == p;
        }));
      }
    }
    for (auto& f : all) f.get();
    EXPECT_EQ(ran, 600);
  }
}

TEST(priority, outlives_a_shutdown_of_the_default_pool) {
  for (int round = 0; round < 3; ++round) {
    for (priority const p : {priority::low, priority::high}) EXPECT_EQ(nopal::default_pool().submit(p, current_priority).get(), p);
    EXPECT_TRUE(nopal::shutdown(1min));
  }
}

// Many at once, from all sides: each runs once, and the pool's end waits for all.
TEST(priority, loses_nothing) {
  std::atomic<long> ran{0};
  long given = 0;
  {
    nopal::pool pool{{.workers = 3}};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned k = 0; k < 300; ++k) {
          auto const p = static_cast<priority>((t + k) % 3);
          pool.detach(p, [&] {
            nopal::counter c;
            for (unsigned m = 0; m < 3; ++m) {
              nopal::spawn(static_cast<priority>(m), c, [&] {
                static_cast<void>(forks(3));
                nopal::yield();
                ++ran;
              });
            }
            nopal::wait_for(c);
            ++ran;
          });
        }
      });
      given += 300 * 4;
    }
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(ran, given);
}

}  // namespace
