// after: jobs and fibers that begin when others have ended.

#include "nopal/after.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/promise.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;

void fails() { throw std::runtime_error{"failed"}; }
nopal::task<int> plus(int a, int b) { co_return a + b; }

TEST(after, nothing_begins_at_once) {
  nopal::pool pool{{.workers = 1}};
  EXPECT_EQ(pool.submit(nopal::after(), [] { return 3; }).get(), 3);
  EXPECT_EQ(pool.submit(nopal::after(), plus, 1, 2).get(), 3);
  nopal::counter c;
  pool.spawn(nopal::after(), c, [] {});
  nopal::wait_for(c);
}

TEST(after, futures_counters_and_ranges_of_them) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ended{0};
    auto const job = [&] {
      ++ended;
      return 1;
    };
    auto a = pool.submit(job);
    nopal::shared_future<int> const b = pool.submit(job);
    std::vector<nopal::future<int>> several;
    std::array<nopal::shared_future<int>, 2> const pair{pool.submit(job).share(), pool.submit(job).share()};
    for (int k = 0; k < 3; ++k) several.push_back(pool.submit(job));
    nopal::counter c;
    pool.spawn(c, job);
    pool.spawn(c, job);
    auto d = pool.submit(nopal::after(a, b, several, pair, c), [&] { return ended.load() + a.get(); });
    EXPECT_EQ(d.get(), 10);
    nopal::wait_for(c);
  }
}

TEST(after, a_temporary_and_the_same_twice) {
  nopal::pool pool{{.workers = 2}};
  nopal::promise<int> p;
  nopal::shared_future<int> const f = p.get_future();
  auto d = pool.submit(nopal::after(f, f, pool.submit([] { return 2; }), f), [&] { return f.get(); });
  EXPECT_FALSE(d.wait_for(2ms));
  p.set_value(5);
  EXPECT_EQ(d.get(), 5);
}

TEST(after, an_empty_future_says_so) {
  nopal::future<int> const empty;
  EXPECT_THROW(static_cast<void>(nopal::after(empty)), std::logic_error);
}

// One worker, which the dependents do not hold.
TEST(after, holds_no_worker) {
  nopal::pool pool{{.workers = 1}};
  nopal::promise<void> p;
  nopal::shared_future<void> const first = p.get_future();
  std::vector<nopal::future<int>> all;
  for (int k = 0; k < 10'000; ++k) all.push_back(pool.submit(nopal::after(first), [k] { return k; }));
  nopal::counter fibers;
  for (int k = 0; k < 10'000; ++k) pool.spawn(nopal::after(first), fibers, [] {});
  EXPECT_EQ(pool.run([] { return 1; }), 1);
  EXPECT_LT(pool.stats().stacks_peak, 20U);
  p.set_value();
  for (int k = 0; k < 10'000; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
  nopal::wait_for(fibers);
}

TEST(after, a_failure_is_the_dependents) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> ran{false};
  auto a = pool.submit(fails);
  auto b = pool.submit([] {});
  auto c = pool.submit(nopal::after(b, a), [&] { ran = true; });
  auto d = pool.submit(nopal::after(c), [&](int) { ran = true; }, 1);
  EXPECT_THROW(d.get(), std::runtime_error);
  EXPECT_THROW(c.get(), std::runtime_error);
  EXPECT_FALSE(ran);
  b.get();
  EXPECT_THROW(a.get(), std::runtime_error);
}

// The first in the order in which they were given, whatever the order of time; and all have ended.
TEST(after, the_first_failure_counts) {
  nopal::pool pool{{.workers = 1}};
  nopal::promise<int> p;
  nopal::promise<int> q;
  auto a = p.get_future();
  auto b = q.get_future();
  auto c = pool.submit(nopal::after(a, b), [] {});
  q.set_exception(std::make_exception_ptr(2));
  EXPECT_FALSE(c.wait_for(1ms));
  p.set_exception(std::make_exception_ptr(1));
  try {
    c.get();
    ADD_FAILURE();
  } catch (int n) {
    EXPECT_EQ(n, 1);
  }
}

TEST(after, a_failed_counter) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ran{0};
    std::optional<nopal::counter> c{std::in_place, 1};
    auto before = pool.submit(nopal::after(*c), [&] { ++ran; });
    auto twice = pool.submit(nopal::after(*c), [&] { ++ran; });
    pool.spawn(*c, fails);
    c->done();
    EXPECT_THROW(before.get(), std::runtime_error);
    EXPECT_THROW(twice.get(), std::runtime_error);
    auto later = pool.submit(nopal::after(*c), [&] { ++ran; });
    EXPECT_THROW(later.get(), std::runtime_error);
    if (round % 2 == 0) {
      EXPECT_THROW(nopal::wait_for(*c), std::runtime_error);  // which takes it
    }
    c.reset();  // and without that, the dependents had it
    EXPECT_EQ(ran, 0);
  }
}

TEST(after, a_counter_may_go_once_it_is_reached) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 500; ++round) {
    nopal::future<int> f;
    {
      nopal::counter c;
      pool.spawn(c, [] {});
      f = pool.submit(nopal::after(c), [] { return 1; });
      nopal::wait_for(c);
    }
    EXPECT_EQ(f.get(), 1);
  }
}

TEST(after, a_fiber_that_does_not_run_fails_its_counter) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> ran{false};
  auto a = pool.submit(fails);
  nopal::counter c;
  pool.spawn(nopal::after(a), c, [&] { ran = true; });
  nopal::counter d;
  pool.spawn(nopal::after(c), d, [&] { ran = true; });
  EXPECT_THROW(nopal::wait_for(d), std::runtime_error);
  pool.spawn(nopal::after(a), [&] { ran = true; });  // nobody is told; `a` has it
  EXPECT_THROW(nopal::wait_for(c), std::runtime_error);
  EXPECT_THROW(a.get(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(after, spawn_off_a_pool_and_in_one) {
  nopal::promise<void> p;
  nopal::shared_future<void> const f = p.get_future();
  nopal::counter c;
  std::atomic<nopal::pool*> ran_in{nullptr};
  nopal::spawn(nopal::after(f), c, [&] { ran_in = nopal::pool::current(); });
  p.set_value();
  nopal::wait_for(c);
  EXPECT_EQ(ran_in, &nopal::default_pool());
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    nopal::counter left;
    nopal::spawn(nopal::after(f), left, [&] { ran_in = nopal::pool::current(); });
    nopal::wait_for(left);
  });
  EXPECT_EQ(ran_in, &pool);
  std::atomic<bool> done{false};
  nopal::spawn(nopal::after(f), [&] { done = true; });
  while (!done) std::this_thread::yield();
}

// A chain of fibers, each after the one before, of which the first fails: no stack grows with it.
TEST(after, a_failure_goes_along_a_chain_of_fibers) {
  nopal::pool pool{{.workers = 2}};
  constexpr std::size_t n = 20'000;
  std::vector<std::unique_ptr<nopal::counter>> c;
  for (std::size_t k = 0; k <= n; ++k) c.push_back(std::make_unique<nopal::counter>());
  c[0]->add();
  std::atomic<int> ran{0};
  for (std::size_t k = 0; k < n; ++k) pool.spawn(nopal::after(*c[k]), *c[k + 1], [&] { ++ran; });
  pool.spawn(*c[0], fails);
  c[0]->done();
  EXPECT_THROW(nopal::wait_for(*c[n]), std::runtime_error);
  EXPECT_EQ(ran, 0);
}

// The ends of both race with each other and with the call.
TEST(after, ends_that_race) {
  nopal::pool pool{{.workers = 2}};
  nopal::pool other{{.workers = 1}};
  std::atomic<int> ran{0};
  for (int round = 0; round < 1000; ++round) {
    nopal::promise<int> p;
    nopal::shared_future<int> const a = p.get_future();
    auto b = other.submit([] { return 1; });
    auto give = other.submit([&] { p.set_value(1); });
    auto c = pool.submit(nopal::after(a, b), [&] { return nopal::pool::current(); });
    nopal::counter d;
    pool.spawn(nopal::after(b, a), d, [&] { ++ran; });
    EXPECT_EQ(c.get(), &pool);
    nopal::wait_for(d);
    give.get();
  }
  EXPECT_EQ(ran, 1000);
}

TEST(after, a_pool_waits_for_what_has_not_begun) {
  std::atomic<int> ran{0};
  nopal::promise<void> p;
  nopal::shared_future<void> const f = p.get_future();
  std::jthread late;
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 10; ++k) static_cast<void>(pool.submit(nopal::after(f), [&] { ++ran; }));
    for (int k = 0; k < 10; ++k) pool.spawn(nopal::after(f), [&] { ++ran; });
    late = std::jthread{[&] {
      std::this_thread::sleep_for(5ms);
      p.set_value();
    }};
  }
  EXPECT_EQ(ran, 20);
}

TEST(after, a_closure_goes_also_where_it_never_ran) {
  auto const token = std::make_shared<int>(0);
  {
    nopal::pool pool{{.workers = 1}};
    auto a = pool.submit(fails);
    nopal::counter c;
    static_cast<void>(pool.submit(nopal::after(a), [token] {}));
    pool.spawn(nopal::after(a), c, [token] {});
    EXPECT_THROW(nopal::wait_for(c), std::runtime_error);
    EXPECT_THROW(a.get(), std::runtime_error);
  }
  EXPECT_EQ(token.use_count(), 1);
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(throws_when_copied const&) { throw std::runtime_error{"copied"}; }
  void operator()() const {}
};

TEST(after, nothing_has_happened_if_the_closure_cannot_be_copied) {
  nopal::pool pool{{.workers = 1}};
  throws_when_copied const f;
  nopal::counter c;
  EXPECT_THROW(pool.spawn(nopal::after(), c, f), std::runtime_error);
  EXPECT_EQ(c.load(), 0);
  EXPECT_THROW(static_cast<void>(pool.submit(nopal::after(), f)), std::runtime_error);
}

TEST(after, runs_in_the_callers_region) {
  nopal::pool pool{{.workers = 1}};
  std::stop_source stop;
  nopal::promise<void> p;
  nopal::shared_future<void> const f = p.get_future();
  nopal::counter c;
  std::atomic<bool> asked{false};
  auto g = nopal::with_stop(stop.get_token(), [&] {
    pool.spawn(nopal::after(f), c, [&] { asked = nopal::stop_requested(); });
    return pool.submit(nopal::after(f), [] { return nopal::stop_requested(); });
  });
  stop.request_stop();
  p.set_value();
  EXPECT_TRUE(g.get());
  nopal::wait_for(c);
  EXPECT_TRUE(asked);
}

TEST(after, arguments_are_kept) {
  nopal::pool pool{{.workers = 1}};
  nopal::promise<void> p;
  nopal::shared_future<void> const f = p.get_future();
  nopal::future<std::string> g;
  {
    std::string const text(30, 'x');
    g = pool.submit(
        nopal::after(f), [](std::string a, std::unique_ptr<int> b) { return a + std::to_string(*b); }, text, std::make_unique<int>(4));
  }
  p.set_value();
  EXPECT_EQ(g.get(), std::string(30, 'x') + "4");
}

TEST(after_death, a_counter_that_is_destroyed_too_early) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        nopal::counter c{1};
        static_cast<void>(pool.submit(nopal::after(c), [] {}));
        c.~counter();
      },
      "a counter was destroyed while a fiber, task or thread waits for it");
}

}  // namespace
