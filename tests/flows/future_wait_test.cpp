// Waits for futures: empty ones, with time limits of any kind, and what runs during a wait.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <ratio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "../scale.hpp"
#include "../unit/any_duration.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::task;
using test::early_clock;
using test::here_and_on_a_worker;
using test::in;
using test::number_thrown;
using test::numbered;
using test::on_lazy_and_busy_pools;
using test::steady;
using test::wait_for_ever;
using test::wait_for_nothing;
using test::wait_until_for_ever;
using test::wait_until_it_has_come;

/// A job that ends on request.
struct held_job {
  std::atomic<bool> go{false};
  int operator()() const {
    while (!go) std::this_thread::sleep_for(100us);
    return 5;
  }
};

// ---- Empty futures.

template <class F>
void expect_empty(F f, char const* name) {
  try {
    f();
    ADD_FAILURE() << name << " did not throw";
  } catch (std::logic_error const& e) {
    std::string const what = e.what();
    EXPECT_EQ(what.find(std::string{"nopal: future::"} + name), 0u) << what;
    EXPECT_NE(what.find("was taken by get()"), std::string::npos) << what;
    EXPECT_NE(what.find("valid()"), std::string::npos) << what;
  }
}
template <class R>
void expect_all_empty(nopal::future<R> f) {
  EXPECT_FALSE(f.valid());
  expect_empty([&] { static_cast<void>(f.get()); }, "get()");
  expect_empty([&] { f.wait(); }, "wait()");
  expect_empty([&] { static_cast<void>(f.ready()); }, "ready()");
  expect_empty([&] { static_cast<void>(f.wait_for(1ms)); }, "wait_for()");
  expect_empty([&] { static_cast<void>(f.wait_until(steady::now())); }, "wait_until()");
}

TEST(future_wait_test, empty_ones_throw_logic_error) {
  nopal::pool pool{{.workers = 1}};
  expect_all_empty(nopal::future<int>{});
  expect_all_empty(nopal::future<void>{});
  expect_all_empty(nopal::future<int&>{});
  auto used = pool.submit([] { return 1; });
  EXPECT_EQ(used.get(), 1);
  expect_all_empty(std::move(used));
  auto threw = pool.submit([] { throw numbered{1}; });
  EXPECT_THROW(threw.get(), numbered);
  expect_all_empty(std::move(threw));
  auto from = pool.submit([] { return std::make_unique<int>(1); });
  auto const to = std::move(from);
  expect_all_empty(std::move(from));
  EXPECT_TRUE(to.valid());
}

TEST(future_wait_test, empty_ones_throw_in_a_task_too) {
  nopal::pool pool{{.workers = 1}};
  EXPECT_EQ(pool.run([]() -> task<int> {
    nopal::future<int> f;
    try {
      co_return co_await f;
    } catch (std::logic_error const& e) {
      co_return std::string{e.what()}.find("nopal: co_await on an empty future") == 0 ? 7 : 0;
    }
  }),
            7);
}

// ---- Any duration.

TEST(future_wait_test, any_duration_is_right) {
  nopal::pool pool{{.workers = 2}};
  here_and_on_a_worker([&pool] {
    held_job job;
    auto never = pool.submit(std::ref(job));
    auto const passed = [&](auto limit) {
      if constexpr (requires { limit.count(); }) {
        EXPECT_FALSE(never.wait_for(limit));
      } else {
        EXPECT_FALSE(never.wait_until(limit));
      }
    };
    wait_for_nothing(passed);
    wait_until_it_has_come(passed);
    EXPECT_FALSE(never.ready());
    EXPECT_FALSE(never.wait_for(in<double>{0.002}));
    EXPECT_FALSE(never.wait_for(in<float, std::milli>{1.5F}));
    EXPECT_FALSE(never.wait_until(std::chrono::system_clock::now() + 2ms));
    EXPECT_FALSE(never.wait_until(early_clock::now() + 2ms));
    job.go = true;
    EXPECT_TRUE(never.wait_for(std::chrono::hours::max()));
    wait_for_nothing([&](auto d) { EXPECT_TRUE(never.wait_for(d)); });  // it is there
    auto const comes = [&](auto limit) {
      auto f = pool.submit([] { std::this_thread::sleep_for(500us); });
      if constexpr (requires { limit.count(); }) {
        EXPECT_TRUE(f.wait_for(limit));
      } else {
        EXPECT_TRUE(f.wait_until(limit));
      }
      EXPECT_TRUE(f.ready());
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
  });
}

TEST(future_wait_test, a_limit_is_waited_for) {
  nopal::pool pool{{.workers = 2}};
  here_and_on_a_worker([&pool] {
    held_job job;
    auto f = pool.submit(std::ref(job));
    for (int k = 0; k < 3; ++k) {
      auto const start = steady::now();
      EXPECT_FALSE(f.wait_for(20ms));
      EXPECT_GE(steady::now() - start, 20ms);
    }
    auto const start = std::chrono::system_clock::now();
    EXPECT_FALSE(f.wait_until(start + 20ms));
    EXPECT_GE(std::chrono::system_clock::now() - start, 20ms);
    job.go = true;
    f.wait();
  });
}

// ---- Who waits, and what runs during the wait.

TEST(future_wait_test, a_timed_wait_leaves_its_worker_to_others) {
  nopal::pool pool{{.workers = 1}};
  // The only worker waits for a job that it must run itself.
  EXPECT_TRUE(pool.submit([&] { return pool.submit([] { return 1; }).wait_for(1min); }).get());
  EXPECT_TRUE(pool.submit([&] { return pool.submit([] { return 1; }).wait_until(std::chrono::system_clock::now() + 1min); }).get());
  EXPECT_TRUE(pool.submit([&]() -> task<bool> {
                    auto f = pool.submit([] { return 1; });
                    co_return f.wait_for(1min) && co_await f == 1;
                  })
                  .get());
}

TEST(future_wait_test, any_number_waits_at_once) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    nopal::pool other{{.workers = 1}};
    for (int round = 0; round < test::scaled(20); ++round) {
      nopal::semaphore go{0};
      auto f = pool.submit([&] {
        go.acquire();
        return 5;
      });
      std::atomic<int> saw{0};
      nopal::counter left;
      auto const wait = [&] { saw += f.wait_for(1min) && f.ready(); };
      auto const wait_untimed = [&] {
        f.wait();
        saw += f.ready();
      };
      for (int k = 0; k < 3; ++k) {
        pool.spawn(left, wait);
        pool.spawn(left, wait_untimed);
        other.spawn(left, wait);
        pool.spawn(left, [&] { saw += !f.wait_for(1us) || f.ready(); });
      }
      std::array<std::thread, 4> threads;
      for (auto& t : threads) t = (&t - threads.data()) % 2 != 0 ? std::thread{wait} : std::thread{wait_untimed};
      go.release();
      for (auto& t : threads) t.join();
      nopal::wait_for(left);
      EXPECT_EQ(saw, 16);
      EXPECT_EQ(f.get(), 5);
    }
  });
}

TEST(future_wait_test, the_pool_may_be_gone) {
  nopal::future<int> f, g;
  nopal::future<void> h;
  {
    nopal::pool pool{{.workers = 2}};
    f = pool.submit([] { return 1; });
    g = pool.submit([]() -> task<int> { co_return 2; });
    h = pool.submit([] { throw numbered{3}; });
  }
  EXPECT_TRUE(f.wait_for(0s));
  f.wait();
  EXPECT_EQ(f.get(), 1);
  nopal::pool another{{.workers = 1}};
  EXPECT_EQ(another.run([&]() -> task<int> { co_return co_await g; }), 2);
  EXPECT_EQ(number_thrown(another, [&]() -> task<> { co_await h; }), 3);
}

TEST(future_wait_test, a_report_says_that_it_is_waited_for) {
  nopal::pool pool{{.workers = 2}};
  held_job job;
  auto f = pool.submit(std::ref(job));
  auto waiter = pool.submit([&] { f.wait(); });
  std::string report;
  for (auto const limit = steady::now() + 30s; steady::now() < limit && report.find("a future") == std::string::npos;) {
    report = pool.report();
  }
  EXPECT_NE(report.find("waits for a future"), std::string::npos) << report;
  job.go = true;
  waiter.get();
}

}  // namespace
