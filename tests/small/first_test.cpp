// when_any, select, block_on, the threads' hooks, timed_mutex, and the version.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/block_on.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/select.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "nopal/timed_mutex.hpp"
#include "nopal/version.hpp"
#include "nopal/when_any.hpp"
#include "stopped.hpp"

namespace {

using namespace std::chrono_literals;
using test::is_stopped;
using test::on_some_pools;

// ---- when_any

TEST(when_any_test, gives_the_first_that_is_ready) {
  on_some_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(500); ++k) {
      nopal::semaphore go{0};
      auto never = pool.submit([&] { go.acquire(); });
      auto soon = pool.submit([] { return std::make_unique<int>(1); });
      if (k % 2 == 0) {
        EXPECT_EQ(nopal::when_any(never, soon), 1u);
      } else {
        pool.run([&]() -> nopal::task<> {
          EXPECT_EQ(nopal::when_any(never, soon), 1u);
          co_return;
        });
      }
      EXPECT_EQ(*soon.get(), 1);
      EXPECT_EQ(nopal::when_any_for(1us, never), std::nullopt);
      go.release();
      std::vector<nopal::future<void>> all;
      all.push_back(std::move(never));
      EXPECT_EQ(nopal::when_any(all), 0u);
      EXPECT_EQ(nopal::when_any_for(1h, all), 0u);
      all[0].get();
      EXPECT_THROW(nopal::when_any(all), std::logic_error);
      all.clear();
      EXPECT_THROW(nopal::when_any(all), std::invalid_argument);
    }
  });
}

TEST(when_any_test, time_limits_race_with_the_end) {
  nopal::pool pool{{.workers = 2}};
  pool.run([&] {
    for (long k = 0; k < test::scaled(100'000, 50); ++k) {
      auto a = pool.submit([] {});
      auto b = pool.submit([] {});
      if (auto const i = nopal::when_any_for(std::chrono::nanoseconds{k % 64 * 50}, a, b)) {
        ASSERT_TRUE(*i == 0 ? a.ready() : b.ready());
      }
      ASSERT_LT(nopal::when_any(a, b), 2u);
      a.get();
      b.get();
    }
  });
}

TEST(when_any_test, ends_early) {
  nopal::pool pool{{.workers = 2}};
  nopal::pool other{{.workers = 1}};
  nopal::semaphore go{0};
  auto never = other.submit([&] { go.acquire(); });
  EXPECT_TRUE(is_stopped(pool, [&] { nopal::when_any(never, never); }));
  EXPECT_TRUE(is_stopped(pool, [&] { nopal::when_any_for(1h, never); }));
  EXPECT_TRUE(is_stopped(pool, [&] { nopal::select(nopal::on_ready(never)); }));
  go.release();
  EXPECT_EQ(nopal::when_any(never), 0u);
}

// ---- select

TEST(select_test, does_one_thing_and_no_other) {
  nopal::channel<std::unique_ptr<int>> a{1}, b{1};
  auto v = std::make_unique<int>(1);
  EXPECT_EQ(nopal::select(nopal::on_pop(a, [](auto) { FAIL(); }), nopal::on_push(b, std::move(v), [](bool taken) { EXPECT_TRUE(taken); })),
            1u);
  EXPECT_EQ(v, nullptr);
  v = std::make_unique<int>(2);
  EXPECT_EQ(nopal::select(nopal::on_push(b, std::move(v)), nopal::on_timeout(0s)), 1u);
  EXPECT_EQ(*v, 2);  // it was not pushed
  int got = 0;
  EXPECT_EQ(nopal::select(nopal::on_pop(a, [](auto) { FAIL(); }), nopal::on_pop(b, [&](auto x) { got = x.has_value() ? **x : -1; })), 1u);
  EXPECT_EQ(got, 1);
  EXPECT_EQ(nopal::select(nopal::on_pop(a, [](auto) { FAIL(); }), nopal::on_timeout(1us, [&] { got = 3; })), 1u);
  EXPECT_EQ(got, 3);
  a.close();
  EXPECT_EQ(nopal::select(nopal::on_pop(a, [](auto x) { EXPECT_FALSE(x); })), 0u);
  EXPECT_EQ(nopal::select(nopal::on_push(a, std::move(v), [](bool taken) { EXPECT_FALSE(taken); })), 0u);
  EXPECT_EQ(*v, 2);
  b.close(std::make_exception_ptr(std::runtime_error{"failed"}));
  EXPECT_THROW(nopal::select(nopal::on_pop(b, [](auto) { FAIL(); })), std::runtime_error);
  nopal::pool pool{{.workers = 1}};
  auto f = pool.submit([] { return 7; });
  EXPECT_EQ(nopal::select(nopal::on_ready(f, &nopal::future<int>::get)), 0u);
  EXPECT_FALSE(f.valid());
  EXPECT_THROW(nopal::select(nopal::on_ready(f)), std::logic_error);
}

// Every value that is pushed is popped once, by any receiver: selects with and without time limits, beside ordinary pops.
TEST(select_test, loses_no_value_and_no_wake_up) {
  on_some_pools([](nopal::pool& pool) {
    long const n = test::scaled(20'000, 50);
    nopal::channel<long> a{2}, b{1};
    std::atomic<long> sum{0}, count{0};
    auto const pushes = [&](long first) {
      for (long k = first; k < n; k += 2) {
        if (k % 3 == 0) {
          nopal::select(nopal::on_push(a, k), nopal::on_push(b, k));
        } else {
          (k % 3 == 1 ? a : b).push(k);
        }
      }
    };
    auto const got = [&](std::optional<long> v) {
      if (!v) return false;
      sum += *v;
      ++count;
      return true;
    };
    auto const selects = [&](long limit) {
      for (bool a_open = true, b_open = true; a_open || b_open;) {
        auto const on_a = [&](std::optional<long> v) { a_open = got(v); };
        auto const on_b = [&](std::optional<long> v) { b_open = got(v); };
        if (!a_open) {
          nopal::select(nopal::on_pop(b, on_b));
        } else if (!b_open) {
          nopal::select(nopal::on_pop(a, on_a));
        } else if (limit != 0) {
          nopal::select(nopal::on_pop(a, on_a), nopal::on_pop(b, on_b), nopal::on_timeout(std::chrono::nanoseconds{limit}, nopal::yield));
        } else {
          nopal::select(nopal::on_pop(b, on_b), nopal::on_pop(a, on_a));
        }
      }
    };
    nopal::counter pushers, poppers;
    pool.spawn(poppers, [&] { selects(0); });
    pool.spawn(poppers, [&] { selects(1000); });
    pool.spawn(poppers, [&] {
      for (long v : a) got(v);
    });
    std::thread foreign{[&] { selects(0); }};
    for (long first : {0L, 1L}) pool.spawn(pushers, [&, first] { pushes(first); });
    nopal::wait_for(pushers);
    a.close();
    b.close();
    nopal::wait_for(poppers);
    foreign.join();
    EXPECT_EQ(count, n);
    EXPECT_EQ(sum, n * (n - 1) / 2);
  });
}

// ---- block_on

TEST(block_on_test, its_worker_runs_others_meanwhile) {
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    std::atomic<bool> ran{false};
    nopal::counter left;
    nopal::spawn(left, [&] { ran = true; });
    EXPECT_EQ(nopal::block_on([&] {
                while (!ran) std::this_thread::yield();  // only the one worker can run that
                EXPECT_EQ(nopal::pool::current(), nullptr);
                return nopal::block_on([] { return std::make_unique<int>(5); });
              }) != nullptr,
              true);
    nopal::wait_for(left);
  });
  EXPECT_EQ(nopal::block_on([] { return 1; }), 1);
}

TEST(block_on_test, hands_on_results_exceptions_and_regions) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([&] {
      int n = 0;
      EXPECT_EQ(&nopal::block_on([&]() -> int& { return n; }), &n);
      nopal::block_on([&] { ++n; });
      EXPECT_EQ(n, 1);
      EXPECT_THROW(nopal::block_on([] { throw std::runtime_error{"x"}; }), std::runtime_error);
      std::stop_source source;
      source.request_stop();
      nopal::with_stop(source.get_token(), [] { EXPECT_TRUE(nopal::block_on([] { return nopal::stop_requested(); })); });
      EXPECT_FALSE(nopal::block_on([] { return nopal::stop_requested(); }));
    });
  });
}

TEST(block_on_test, takes_turns_beyond_the_limit) {
  nopal::pool pool{{.workers = 2, .blocking_threads = 3}};
  std::atomic<int> at_once{0}, most{0}, ran{0};
  nopal::counter left;
  long const n = test::scaled(2000);
  for (long k = 0; k < n; ++k) {
    pool.spawn(left, [&] {
      nopal::block_on([&] {
        int const now = ++at_once;
        for (int m = most; m < now && !most.compare_exchange_weak(m, now);) {
        }
        std::this_thread::yield();
        --at_once;
        ++ran;
      });
    });
  }
  nopal::wait_for(left);
  EXPECT_EQ(ran, n);
  EXPECT_LE(most, 3);
  EXPECT_THROW(nopal::pool({.workers = 1, .blocking_threads = 0}), std::invalid_argument);
}

// ---- hooks

TEST(hooks_test, each_thread_calls_them_once) {
  std::mutex m;
  std::multiset<unsigned> started, stopped;
  std::set<std::thread::id> threads;
  {
    nopal::pool pool{{.workers = 3,
                      .on_thread_start =
                          [&](unsigned i) {
                            EXPECT_EQ(nopal::pool::current(), nullptr);
                            std::lock_guard const guard{m};
                            started.insert(i);
                            threads.insert(std::this_thread::get_id());
                          },
                      .on_thread_stop =
                          [&](unsigned i) {
                            std::lock_guard const guard{m};
                            stopped.insert(i);
                            EXPECT_EQ(threads.erase(std::this_thread::get_id()), 1u);
                          }}};
    pool.run([] {});
  }
  EXPECT_EQ(started, (std::multiset<unsigned>{0, 1, 2}));
  EXPECT_EQ(stopped, started);
  EXPECT_TRUE(threads.empty());
}

// ---- timed_mutex

TEST(timed_mutex_test, excludes_whatever_the_limits) {
  on_some_pools([](nopal::pool& pool) {
    nopal::timed_mutex m;
    int n = 0, times = 0;
    std::atomic<int> locked{0};
    auto const work = [&](int k) {
      for (long r = 0; r < test::scaled(10'000, 50); ++r) {
        std::unique_lock lock{m, std::defer_lock};
        if (k == 0) {
          lock.lock();
        } else if (k == 1 ? !lock.try_lock() : !lock.try_lock_for(std::chrono::nanoseconds{r % 64 * 30})) {
          continue;
        }
        ++n;
        ++locked;
        if (r % 16 == 0) nopal::yield();
        ++times;
      }
    };
    std::thread foreign{[&] { work(2); }};
    nopal::counter left;
    for (int k = 0; k < 4; ++k) pool.spawn(left, [&, k] { work(k); });
    nopal::wait_for(left);
    foreign.join();
    EXPECT_EQ(n, locked);
    EXPECT_EQ(times, locked);
  });
}

TEST(timed_mutex_test, tells_whoever_would_wait_for_itself) {
  nopal::timed_mutex m;
  m.lock();
  EXPECT_THROW(m.lock(), std::system_error);
  EXPECT_THROW(static_cast<void>(m.try_lock_for(1h)), std::system_error);
  EXPECT_FALSE(m.try_lock());
  nopal::pool pool{{.workers = 2}};
  EXPECT_TRUE(is_stopped(pool, [&] { static_cast<void>(m.try_lock_for(1h)); }));
  EXPECT_FALSE(pool.run([&] { return m.try_lock_until(std::chrono::system_clock::now() + 1us); }));
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(version_test, headers_and_library_agree) {
  EXPECT_EQ(nopal::version(), NOPAL_VERSION);
  EXPECT_EQ(std::to_string(NOPAL_VERSION_MAJOR) + "." + std::to_string(NOPAL_VERSION_MINOR) + "." + std::to_string(NOPAL_VERSION_PATCH),
            NOPAL_VERSION_STRING);
}

}  // namespace
