// Waiting for futures, and time limits of any kind, of everything that is waited for.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../numbered.hpp"
#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::task;
using test::number_thrown;
using test::numbered;
using test::on_lazy_and_busy_pools;

using steady = std::chrono::steady_clock;
template <class Rep, class Period = std::ratio<1>>
using in = std::chrono::duration<Rep, Period>;

/// A job that ends when it is told to.
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

// Of which each is as good as for ever.
template <class Wait>
void wait_for_ever(Wait wait) {
  wait(std::chrono::hours::max());
  wait(std::chrono::minutes::max());
  wait(std::chrono::nanoseconds::max());
  wait(std::chrono::years{400});
  wait(in<std::int64_t, std::ratio<3600 * 24 * 365L>>::max());
  wait(in<std::uint64_t>::max());
  wait(in<double>{std::numeric_limits<double>::infinity()});
  wait(in<double>{1e300});
  wait(in<float>{std::numeric_limits<float>::infinity()});
  wait(in<long double, std::milli>{std::numeric_limits<long double>::max()});
}
// Of which each has passed.
template <class Wait>
void wait_for_nothing(Wait wait) {
  wait(0s);
  wait(-1ns);
  wait(std::chrono::nanoseconds::min());
  wait(std::chrono::hours::min());
  wait(in<double>{-std::numeric_limits<double>::infinity()});
  wait(in<double>{-1e300});
  wait(in<double>{std::numeric_limits<double>::quiet_NaN()});
  wait(in<float>{std::numeric_limits<float>::quiet_NaN()});
  wait(in<float>{-0.F});
}

/// Its present is 148 years before its epoch, as that of std::chrono::file_clock is in places: differences overflow on the other side.
struct early_clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<early_clock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point{steady::now().time_since_epoch() - std::chrono::hours{148 * 365 * 24}}; }
};
template <class Clock, class Wait>
void points_for_ever(Wait wait) {
  wait(Clock::time_point::max());
  wait(std::chrono::time_point<Clock, std::chrono::hours>::max());
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{std::numeric_limits<double>::infinity()}});
}
template <class Clock, class Wait>
void points_that_have_come(Wait wait) {
  wait(Clock::now());
  wait(Clock::now() - 1h);
  wait(Clock::time_point::min());
  wait(std::chrono::time_point<Clock, std::chrono::hours>::min());
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{-std::numeric_limits<double>::infinity()}});
  wait(std::chrono::time_point<Clock, in<double>>{in<double>{std::numeric_limits<double>::quiet_NaN()}});
}
template <class Wait>
void wait_until_for_ever(Wait wait) {
  points_for_ever<steady>(wait);
  points_for_ever<std::chrono::system_clock>(wait);
  points_for_ever<early_clock>(wait);
}
template <class Wait>
void wait_until_it_has_come(Wait wait) {
  points_that_have_come<steady>(wait);
  points_that_have_come<std::chrono::system_clock>(wait);
  points_that_have_come<early_clock>(wait);
}

/// On a thread that works for no pool, then on a worker.
template <class F>
void here_and_on_a_worker(F f) {
  f();
  nopal::pool pool{{.workers = 2}};
  pool.submit(f).get();
}

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

// What else has time limits has them of any kind.
TEST(time_limit_test, any_duration_is_right_for_a_counter) {
  here_and_on_a_worker([] {
    nopal::counter never{1}, reached{0};
    auto const waits = [](nopal::counter& c, auto limit) {
      if constexpr (requires { limit.count(); }) {
        return nopal::wait_for(c, 0, limit);
      } else {
        return nopal::wait_until(c, 0, limit);
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(waits(never, d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(waits(never, t)); });
    EXPECT_FALSE(nopal::wait_until(never, 0, std::chrono::system_clock::now() + 2ms));
    auto const comes = [&](auto limit) {
      nopal::counter soon;
      nopal::spawn(soon, [] { nopal::sleep_for(500us); });
      EXPECT_TRUE(waits(soon, limit));
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
    never.done();
  });
}

TEST(time_limit_test, any_duration_is_right_for_a_semaphore) {
  here_and_on_a_worker([] {
    nopal::semaphore s{0};
    auto const acquires = [&](auto limit) {
      if constexpr (requires { limit.count(); }) {
        return s.try_acquire_for(limit);
      } else {
        return s.try_acquire_until(limit);
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(acquires(d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(acquires(t)); });
    auto const comes = [&](auto limit) {
      nopal::counter left;
      nopal::spawn(left, [&] {
        nopal::sleep_for(500us);
        s.release();
      });
      EXPECT_TRUE(acquires(limit));
      nopal::wait_for(left);
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
  });
}

TEST(time_limit_test, any_duration_is_right_for_a_condition_variable) {
  here_and_on_a_worker([] {
    nopal::mutex m;
    nopal::condition_variable changed;
    bool ready = false;
    auto const becomes = [&](auto limit) {
      std::unique_lock lock{m};
      if constexpr (requires { limit.count(); }) {
        return changed.wait_for(lock, limit, [&] { return ready; });
      } else {
        return changed.wait_until(lock, limit, [&] { return ready; });
      }
    };
    wait_for_nothing([&](auto d) { EXPECT_FALSE(becomes(d)); });
    wait_until_it_has_come([&](auto t) { EXPECT_FALSE(becomes(t)); });
    auto const comes = [&](auto limit) {
      ready = false;
      nopal::counter left;
      nopal::spawn(left, [&] {
        nopal::sleep_for(500us);
        std::lock_guard const guard{m};
        ready = true;
        changed.notify_all();
      });
      EXPECT_TRUE(becomes(limit));
      nopal::wait_for(left);
    };
    wait_for_ever(comes);
    wait_until_for_ever(comes);
  });
}

TEST(time_limit_test, any_duration_that_has_passed_is_no_sleep) {
  here_and_on_a_worker([] {
    auto const start = steady::now();
    wait_for_nothing([](auto d) { nopal::sleep_for(d); });
    wait_until_it_has_come([](auto t) { nopal::sleep_until(t); });
    EXPECT_LT(steady::now() - start, 30s);
  });
}

// ---- Who waits, and what goes on meanwhile.

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

// ---- co_await.

struct counted {
  static inline int copies = 0;
  explicit counted(int n) : value{n} {}
  counted(counted const& o) : value{o.value} { ++copies; }
  counted(counted&& o) noexcept : value{std::exchange(o.value, 0)} {}
  int value;
};

TEST(future_await_test, gives_any_kind_of_result_once) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    int const n = 4;
    pool.run([&]() -> task<> {
      EXPECT_EQ(co_await pool.submit([] { return 1; }), 1);
      auto f = pool.submit([] { return std::make_unique<int>(3); });
      std::unique_ptr<int> const p = co_await f;
      EXPECT_EQ(*p, 3);
      EXPECT_FALSE(f.valid());
      auto g = pool.submit([] { return std::string(100, 'x'); });
      std::string const s = co_await std::move(g);
      EXPECT_EQ(s, std::string(100, 'x'));
      EXPECT_FALSE(g.valid());  // NOLINT(bugprone-use-after-move): taken
      auto r = pool.submit([&n]() -> int const& { return n; });
      static_assert(std::is_same_v<decltype(r), nopal::future<int const&>>);
      EXPECT_EQ(&co_await r, &n);
      bool ran = false;
      co_await pool.submit([&] { ran = true; });
      EXPECT_TRUE(ran);
      EXPECT_EQ((co_await pool.submit([] { return counted{6}; })).value, 6);
      EXPECT_EQ((co_await pool.submit([]() -> task<counted> { co_return counted{7}; })).value, 7);
    });
  });
  EXPECT_EQ(counted::copies, 0);
}

TEST(future_await_test, leaves_its_worker_to_others) {
  nopal::pool pool{{.workers = 1}};
  auto const await_one = [&]() -> task<int> { co_return co_await pool.submit([] { return 1; }); };
  EXPECT_EQ(pool.submit(await_one).get(), 1);
  auto const await_two = [&]() -> task<int> { co_return co_await pool.submit(await_one) + 1; };
  EXPECT_EQ(pool.submit(await_two).get(), 2);
}

TEST(future_await_test, rethrows) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    EXPECT_EQ(number_thrown(pool, [&]() -> task<> { co_await pool.submit([] { throw numbered{4}; }); }), 4);
    EXPECT_EQ(pool.run([&]() -> task<int> {
      auto f = pool.submit([]() -> task<int> {
        throw numbered{5};
        co_return 0;
      });
      try {
        co_return co_await f;
      } catch (numbered const& e) {
        EXPECT_FALSE(f.valid());
        co_return e.number;
      }
    }),
              5);
  });
}

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

TEST(future_await_test, between_fork_and_join) {
  auto const mixed = [](nopal::pool& pool, long n) -> task<long> {
    long a = 0, b = 0;
    auto f = pool.submit(fib, n);
    co_await nopal::fork(&a, fib, n);
    long const c = co_await f;
    co_await nopal::fork(&b, fib, n);
    long const d = co_await pool.submit(fib, n);
    co_await nopal::join;
    co_return a + b + c + d;
  };
  on_lazy_and_busy_pools([&](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(60); ++k) ASSERT_EQ(pool.run(mixed, pool, 8L), 4 * 21);
  });
}

task<> throws(int n) {
  throw numbered{n};
  co_return;
}
task<> ends_late(std::atomic<int>& ended) {
  std::this_thread::sleep_for(2ms);
  ++ended;
  co_return;
}

// The exceptions of a scope are met in the order in which serial execution meets them, and never while a child runs.
TEST(future_await_test, between_fork_and_join_it_throws_when_the_children_have_ended) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(20); ++k) {
      std::atomic<int> ended{0};
      EXPECT_EQ(pool.run([&]() -> task<int> {
        int n = 0;
        co_await nopal::fork(ends_late, ended);
        auto f = pool.submit([] { throw numbered{6}; });
        try {
          co_await f;
        } catch (numbered const& e) {
          n = e.number;
          EXPECT_EQ(ended, 1);
          EXPECT_FALSE(f.valid());
        }
        co_await nopal::fork(ends_late, ended);
        try {
          nopal::future<int> empty;
          co_await empty;
        } catch (std::logic_error const&) {
          n += 10;
          EXPECT_EQ(ended, 2);
        }
        co_await nopal::fork(ends_late, ended);
        co_await nopal::join;
        co_return n + 100 * ended;
      }),
                316);
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                co_await nopal::fork(throws, 1);
                                co_await pool.submit([] { throw numbered{2}; });
                                co_await nopal::join;
                              }),
                1);
      // Uncaught, the task ends with it, and not the program.
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                co_await nopal::fork(ends_late, ended);
                                co_await pool.submit([] { throw numbered{2}; });
                                co_await nopal::join;
                              }),
                2);
      EXPECT_EQ(ended, 4);
    }
  });
}

TEST(future_await_test, what_a_counter_rethrows_between_fork_and_join_waits_for_the_children_too) {
  on_lazy_and_busy_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(20); ++k) {
      std::atomic<int> ended{0};
      EXPECT_EQ(number_thrown(pool,
                              [&]() -> task<> {
                                nopal::counter left;
                                co_await nopal::fork(ends_late, ended);
                                nopal::spawn(left, [] { throw numbered{3}; });
                                co_await left.reaches(0);
                                co_await nopal::join;
                              }),
                3);
      EXPECT_EQ(ended, 1);
    }
  });
}

}  // namespace
