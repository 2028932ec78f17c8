// shared_future: any number of waiters and followers; then() of both kinds of futures.

#include "nopal/shared_future.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/promise.hpp"
#include "nopal/select.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "nopal/when_all.hpp"
#include "nopal/when_any.hpp"

namespace {

using namespace std::chrono_literals;

int fails() { throw std::runtime_error{"the job's words"}; }

TEST(shared_future, is_made_from_a_future) {
  nopal::pool pool{{.workers = 1}};
  nopal::shared_future<int> a = pool.submit([] { return 3; });
  auto f = pool.submit([] { return 4; });
  nopal::shared_future<int> const b = f.share();
  EXPECT_FALSE(f.valid());
  EXPECT_THROW(static_cast<void>(f.share()), std::logic_error);
  nopal::shared_future<int> const copy = a;
  EXPECT_EQ(a.get() + copy.get() + a.get() + b.get(), 13);
  EXPECT_TRUE(copy.ready());
  a = b;
  EXPECT_EQ(a.get(), 4);
  static_assert(std::is_same_v<decltype(a.get()), int const&>);
  static_assert(std::is_nothrow_copy_constructible_v<nopal::shared_future<int>>);
}

TEST(shared_future, that_is_empty_says_so) {
  nopal::shared_future<int> const f;
  EXPECT_FALSE(f.valid());
  EXPECT_THROW(f.get(), std::logic_error);
  EXPECT_THROW(f.wait(), std::logic_error);
  EXPECT_THROW(static_cast<void>(f.ready()), std::logic_error);
  EXPECT_THROW(static_cast<void>(f.wait_for(1ms)), std::logic_error);
  EXPECT_THROW(static_cast<void>(f.then([](int) {})), std::logic_error);
}

TEST(shared_future, of_a_reference_and_of_nothing) {
  nopal::pool pool{{.workers = 1}};
  int x = 1;
  nopal::shared_future<int&> const r = pool.submit([&]() -> int& { return x; });
  EXPECT_EQ(&r.get(), &x);
  EXPECT_EQ(&pool.submit([&]() -> int& { return x; }).share().get(), &x) << "which needs no future";
  nopal::shared_future<void> const v = pool.submit([] {});
  v.get();
  v.get();
  EXPECT_TRUE(v.wait_for(0s));
  EXPECT_TRUE(v.wait_until(std::chrono::system_clock::now()));
}

nopal::task<std::size_t> awaits(nopal::shared_future<std::string> f) {
  std::string const& s = co_await f;
  co_return s.size();
}

TEST(shared_future, is_awaited_by_all_kinds_of_waiters) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 50; ++round) {
    nopal::promise<std::string> p;
    nopal::shared_future<std::string> const f = p.get_future();
    nopal::counter done;
    std::atomic<std::size_t> sum{0};
    std::jthread const foreign{[&] { sum += f.get().size(); }};
    for (int k = 0; k < 4; ++k) pool.spawn(done, [&] { sum += f.get().size(); });
    auto task = pool.submit(awaits, f);
    p.set_value(std::string(10, 'x'));
    nopal::wait_for(done);
    sum += task.get();
    while (sum != 60) std::this_thread::yield();
  }
}

TEST(shared_future, throws_to_each) {
  nopal::pool pool{{.workers = 1}};
  nopal::shared_future<int> const f = pool.submit(fails);
  for (int k = 0; k < 3; ++k) EXPECT_THROW(f.get(), std::runtime_error);
  auto const awaits_it = [](nopal::shared_future<int> s) -> nopal::task<int> { co_return co_await s; };
  EXPECT_THROW(pool.run(awaits_it, f), std::runtime_error);
}

TEST(shared_future, goes_where_futures_go) {
  nopal::pool pool{{.workers = 1}};
  nopal::shared_future<int> a = pool.submit([] { return 1; });
  auto b = pool.submit([] { return 2; });
  nopal::when_all(a, b).get();
  EXPECT_EQ(nopal::when_any(a, b), 0U);
  EXPECT_TRUE(nopal::when_all_for(1min, std::vector{a, a}));
  EXPECT_EQ(nopal::when_any_for(1min, std::vector{a, a}), 0U);
  int got = 0;
  nopal::select(nopal::on_ready(a, [&](auto& f) { got = f.get(); }));
  EXPECT_EQ(got, 1);
  nopal::shared_future<int> const c = pool.submit(fails);
  EXPECT_THROW(nopal::when_all(c, b).get(), std::runtime_error);
  EXPECT_THROW(c.get(), std::runtime_error);
}

// ---- then

TEST(then, calls_with_the_value) {
  nopal::pool pool{{.workers = 2}};
  nopal::shared_future<std::string> const a = pool.submit([] { return std::string(5, 'x'); });
  auto b = a.then([](std::string const& s) { return s.size(); });
  auto c = a.then([](std::string s) { return s + "y"; });
  EXPECT_EQ(b.get(), 5U);
  EXPECT_EQ(c.get(), "xxxxxy");
  EXPECT_EQ(a.get(), "xxxxx");
}

TEST(then, of_a_future_takes_the_value) {
  nopal::pool pool{{.workers = 2}};
  auto f = pool.submit([] { return std::make_unique<int>(4); });
  auto g = f.then([](std::unique_ptr<int> p) { return *p + 1; });
  EXPECT_FALSE(f.valid());
  EXPECT_EQ(g.get(), 5);
  EXPECT_THROW(static_cast<void>(f.then([](std::unique_ptr<int>) {})), std::logic_error);
}

TEST(then, of_nothing_and_of_a_reference) {
  nopal::pool pool{{.workers = 1}};
  int x = 1;
  auto f = pool.submit([&] { x = 2; }).then([&]() -> int& { return x; }).then([](int& y) { return &y; });
  EXPECT_EQ(f.get(), &x);
  nopal::shared_future<void> const v = pool.submit([] {});
  v.then([&] { x = 3; }).get();
  EXPECT_EQ(x, 3);
}

nopal::task<std::size_t> measure(std::string const& s) {
  nopal::yield();
  co_return s.size();
}
nopal::task<int> add_one(int n) { co_return n + 1; }

TEST(then, calls_coroutine_functions) {
  nopal::pool pool{{.workers = 2}};
  nopal::shared_future<std::string> const a = pool.submit([] { return std::string(30, 'x'); });
  EXPECT_EQ(a.then(measure).get(), 30U);
  EXPECT_EQ(pool.submit([] { return std::string(40, 'x'); }).then(measure).get(), 40U);
  EXPECT_EQ(pool.submit(add_one, 1).then(add_one).then(add_one).get(), 4);
}

TEST(then, keeps_functions_that_are_only_moved_or_called_once) {
  nopal::pool pool{{.workers = 1}};
  struct once {
    std::unique_ptr<int> p;
    int operator()(int n) && { return *p + n; }
  };
  EXPECT_EQ(pool.submit([] { return 1; }).then(once{std::make_unique<int>(2)}).get(), 3);
  struct member {
    int n;
  };
  nopal::shared_future<member> const m = pool.submit([] { return member{8}; });
  EXPECT_EQ(m.then(&member::n).get(), 8);
}

// The function runs on the worker that has ended the job, as a job of its own: of many, on one worker, each after the other.
TEST(then, runs_as_a_job_of_the_pool) {
  nopal::counter gate{1};  // the job ends once it has a follower
  nopal::pool pool{{.workers = 1}};
  nopal::pool other{{.workers = 1}};
  auto f = pool.submit([&] { return nopal::wait_for(gate), 1; }).then([&](int) { return nopal::pool::current(); });
  gate.done();
  EXPECT_EQ(f.get(), &pool);
  // A result that is there already: the caller's pool.
  nopal::shared_future<int> const a = pool.submit([] { return 1; });
  a.wait();
  EXPECT_EQ(other.run([&] { return a.then([](int) { return nopal::pool::current(); }).get(); }), &other);
  EXPECT_EQ(a.then([](int) { return nopal::pool::current(); }).get(), &nopal::default_pool());
  // A promise that is kept off a pool, and by another pool: that of the caller of then.
  nopal::promise<int> p;
  nopal::shared_future<int> const b = p.get_future();
  auto c = pool.run([&] { return b.then([](int) { return nopal::pool::current(); }); });
  auto d = b.then([](int) { return nopal::pool::current(); });
  p.set_value(1);
  EXPECT_EQ(c.get(), &pool);
  EXPECT_EQ(d.get(), &nopal::default_pool());
}

TEST(then, may_wait_without_holding_the_worker) {
  nopal::pool pool{{.workers = 1}};
  nopal::counter both_follow{1}, gate{1};
  auto f = pool.submit([&] { nopal::wait_for(both_follow); }).then([&] { nopal::wait_for(gate); });
  auto g = pool.submit([&] { nopal::wait_for(both_follow); }).then([&] { gate.done(); });
  both_follow.done();
  g.get();
  f.get();
}

TEST(then, of_a_chain_of_100000) {
  nopal::pool pool{{.workers = 2}};
  nopal::promise<int> p;
  nopal::future<int> f = p.get_future();
  for (int k = 0; k < 100'000; ++k) f = f.then([](int n) { return n + 1; });
  p.set_value(0);
  EXPECT_EQ(f.get(), 100'000);
}

// Also where nothing is called: a failure goes along the chain without a stack that grows.
TEST(then, hands_a_failure_along_a_chain_of_100000) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<int> ran{0};
  nopal::promise<int> p;
  nopal::future<int> f = p.get_future();
  for (int k = 0; k < 100'000; ++k)
    f = f.then([&](int n) {
      ++ran;
      return n;
    });
  {
    nopal::promise<int> const dropped = std::move(p);
  }
  EXPECT_THROW(f.get(), std::future_error);
  EXPECT_EQ(ran, 0);
}

TEST(then, hands_the_failure_to_all_followers) {
  nopal::pool pool{{.workers = 2}};
  nopal::shared_future<int> const a = pool.submit(fails);
  auto b = a.then([](int n) { return n; });
  nopal::shared_future<int> const c = a.then([](int n) { return n; });
  auto d = c.then([](int n) { return n; });
  EXPECT_THROW(b.get(), std::runtime_error);
  EXPECT_THROW(c.get(), std::runtime_error);
  EXPECT_THROW(d.get(), std::runtime_error);
}

TEST(then, throws_what_its_function_throws) {
  nopal::pool pool{{.workers = 1}};
  auto f = pool.submit([] {}).then([] { throw std::runtime_error{"the follower"}; });
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST(then, inherits_the_callers_stop_region) {
  nopal::pool pool{{.workers = 1}};
  std::stop_source stop;
  nopal::promise<void> p;
  auto first = p.get_future();
  auto f = nopal::with_stop(stop.get_token(), [&] { return first.then([] { return nopal::stop_requested(); }); });
  stop.request_stop();
  p.set_value();
  EXPECT_TRUE(f.get());
}

// ---- No exception gets lost, and none twice.

class lost_failure : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

constexpr char const* message = "pool::submit \\(the job's words\\), and its future was destroyed before get";

TEST_F(lost_failure, of_a_shared_future_that_nobody_asks) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        nopal::shared_future<int> const a = pool.submit(fails);
        a.wait();
      },
      message);
  EXPECT_DEATH(
      {
        nopal::counter gate{1};  // the job ends once it has a follower
        nopal::pool pool{{.workers = 1}};
        static_cast<void>(pool.submit([&] { return nopal::wait_for(gate), fails(); }).then([](int) {}));
        gate.done();
      },
      message);
}

TEST_F(lost_failure, of_a_follower_that_throws_itself) {
  EXPECT_DEATH(
      {
        nopal::counter gate{1};  // the job ends once it has a follower
        nopal::pool pool{{.workers = 1}};
        static_cast<void>(pool.submit([&] { nopal::wait_for(gate); }).then(fails));
        gate.done();
      },
      message);
}

// Before the job has ended, and so before its follower has failed.
TEST(kept_failure, may_get_lost_where_another_exception_destroys_the_followers_future) {
  nopal::counter gate{1};
  nopal::pool pool{{.workers = 2}};
  EXPECT_THROW(
      {
        auto const f = pool.submit([&] { return nopal::wait_for(gate), fails(); }).then([](int) {});
        throw std::logic_error{"another"};
      },
      std::logic_error);
  gate.done();
}

TEST(kept_failure, is_known_once_anybody_has_got_it) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 20; ++round) {
    nopal::shared_future<int> a = pool.submit(fails);
    auto dropped = a.then([](int) {});
    dropped = {};
    EXPECT_THROW(a.get(), std::runtime_error);
    a = {};

    nopal::shared_future<int> b = pool.submit(fails);
    auto next = b.then([](int) {}).then([] {});
    b = {};
    EXPECT_THROW(next.get(), std::runtime_error);
  }
}

}  // namespace
