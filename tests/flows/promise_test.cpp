// promise: results that any code gives, for futures that wait everywhere.

#include "nopal/promise.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;

/// The code that std::future_error has; nothing if `f` does not throw it.
template <class F>
std::optional<std::error_code> code_of(F f) {
  try {
    f();
  } catch (std::future_error const& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST(promise, gives_its_value) {
  nopal::promise<int> p;
  nopal::future<int> f = p.get_future();
  EXPECT_TRUE(f.valid());
  EXPECT_FALSE(f.ready());
  EXPECT_FALSE(f.wait_for(1ms));
  p.set_value(3);
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(f.get(), 3);
  EXPECT_FALSE(f.valid());
}

TEST(promise, gives_a_reference_and_nothing) {
  int x = 4;
  nopal::promise<int&> r;
  r.set_value(x);
  EXPECT_EQ(&r.get_future().get(), &x);
  nopal::promise<void> v;
  auto f = v.get_future();
  v.set_value();
  f.get();
  EXPECT_FALSE(f.valid());
}

struct no_default {
  explicit no_default(int n) : value{n} {}
  no_default(no_default&&) = default;
  no_default& operator=(no_default&&) = delete;
  no_default* operator&() = delete;
  int value;
};
struct alignas(128) wide {
  int value;
};

TEST(promise, carries_any_type) {
  nopal::promise<std::unique_ptr<int>> u;
  u.set_value(std::make_unique<int>(5));
  EXPECT_EQ(*u.get_future().get(), 5);
  nopal::promise<no_default> n;
  n.set_value(6);
  EXPECT_EQ(n.get_future().get().value, 6);
  nopal::promise<wide> w;
  w.set_value(wide{7});
  EXPECT_EQ(w.get_future().get().value, 7);
  nopal::promise<std::vector<int>> v;
  v.set_value({1, 2});
  EXPECT_EQ(v.get_future().get().size(), 2U);
}

TEST(promise, gives_an_exception) {
  nopal::promise<int> p;
  auto f = p.get_future();
  p.set_exception(std::make_exception_ptr(std::runtime_error{"no"}));
  EXPECT_TRUE(f.ready());
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST(promise, that_is_dropped_breaks) {
  nopal::future<int> f;
  {
    nopal::promise<int> p;
    f = p.get_future();
  }
  EXPECT_EQ(code_of([&] { f.get(); }), std::future_errc::broken_promise);
  nopal::promise<void> p;
  auto g = p.get_future();
  p = nopal::promise<void>{};
  EXPECT_EQ(code_of([&] { g.get(); }), std::future_errc::broken_promise);
  nopal::promise<void> const nobody_asks;
}

TEST(promise, that_is_dropped_without_its_future_says_nothing) {
  {
    nopal::promise<int> p;
    auto f = p.get_future();
    f = {};
  }
  nopal::promise<int> p;
  p.set_exception(std::make_exception_ptr(std::runtime_error{"dropped"}));
}

TEST(promise, is_used_once) {
  nopal::promise<int> p;
  auto const f = p.get_future();
  EXPECT_EQ(code_of([&] { static_cast<void>(p.get_future()); }), std::future_errc::future_already_retrieved);
  p.set_value(1);
  EXPECT_EQ(code_of([&] { p.set_value(2); }), std::future_errc::promise_already_satisfied);
  EXPECT_EQ(code_of([&] { p.set_exception(std::make_exception_ptr(2)); }), std::future_errc::promise_already_satisfied);
  nopal::promise<int> const taken = std::move(p);
  EXPECT_EQ(code_of([&] { static_cast<void>(p.get_future()); }), std::future_errc::no_state);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(code_of([&] { p.set_value(2); }), std::future_errc::no_state);
}

struct throws_first {
  explicit throws_first(int n) {
    if (n == 0) throw std::runtime_error{"the constructor"};
  }
};

TEST(promise, is_as_before_where_the_constructor_throws) {
  nopal::promise<throws_first> p;
  EXPECT_THROW(p.set_value(0), std::runtime_error);
  p.set_value(1);
  p.get_future().get();
}

// The first thread tells the second one nothing: so ThreadSanitizer sees whether the promise itself orders the two.
TEST(promise, whose_constructor_throws_may_be_kept_by_another_thread) {
  struct counted {
    explicit counted(int n) : value{n} {
      if (n == 0) throw std::runtime_error{"the constructor"};
    }
    counted(counted&& from) noexcept : value{from.value} {}
    ~counted() { value = -1; }
    int value;
  };
  nopal::core::promised_result<counted> result;
  std::atomic<bool> threw{false};
  {
    std::jthread const first{[&] {
      EXPECT_THROW(result.settle([&] { result.value_.emplace(0); }), std::runtime_error);
      threw.store(true, std::memory_order_relaxed);
    }};
    std::jthread const second{[&] {
      while (!threw.load(std::memory_order_relaxed)) std::this_thread::yield();
      result.settle([&] { result.value_.emplace(1); });
    }};
  }
  EXPECT_EQ(result.take().value, 1);
}

TEST(promise, one_of_several_threads_gives_the_value) {
  for (int round = 0; round < 100; ++round) {
    nopal::promise<int> p;
    auto f = p.get_future();
    std::atomic<int> refused{0};
    {
      std::vector<std::jthread> threads;
      for (int k = 1; k <= 3; ++k)
        threads.emplace_back([&, k] {
          if (code_of([&] { p.set_value(k); })) ++refused;
        });
    }
    EXPECT_EQ(refused, 2);
    EXPECT_GT(f.get(), 0);
  }
}

nopal::task<int> awaits(nopal::future<int> f) { co_return co_await f; }
nopal::task<int> awaits_while_children_run(nopal::future<int> f, std::atomic<int>& ran) {
  auto const child = [](std::atomic<int>& n) -> nopal::task<> {
    ++n;
    co_return;
  };
  co_await nopal::fork(child, ran);
  int const x = co_await f;
  co_await nopal::join;
  co_return x;
}

// Each kind of waiter, on one worker: so the waiter leaves it, or the giver could not run.
TEST(promise, is_waited_for_everywhere) {
  nopal::pool pool{{.workers = 1}};
  auto const give_soon = [&](nopal::promise<int>& p) {
    pool.spawn([&p] {
      nopal::sleep_for(1ms);
      p.set_value(7);
    });
  };
  {
    nopal::promise<int> p;
    give_soon(p);
    EXPECT_EQ(p.get_future().get(), 7);  // a foreign thread
  }
  {
    nopal::promise<int> p;
    give_soon(p);
    EXPECT_EQ(pool.run([&] { return p.get_future().get(); }), 7);  // a native stack
  }
  {
    nopal::promise<int> p;
    give_soon(p);
    EXPECT_EQ(pool.run(awaits, p.get_future()), 7);  // a task
  }
  {
    nopal::promise<int> p;
    std::atomic<int> ran{0};
    give_soon(p);
    EXPECT_EQ(pool.run(awaits_while_children_run, p.get_future(), ran), 7);
    EXPECT_EQ(ran, 1);
  }
  {
    nopal::promise<int> p;
    nopal::counter done;
    give_soon(p);
    pool.spawn(done, [&] { EXPECT_EQ(p.get_future().get(), 7); });  // a fiber
    nopal::wait_for(done);
  }
}

TEST(promise, is_given_by_a_foreign_thread_while_a_fiber_waits) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 200; ++round) {
    nopal::promise<std::string> p;
    auto waits = pool.submit([f = p.get_future()]() mutable { return f.get(); });
    std::thread giver{[&] { p.set_value(std::string(40, 'x')); }};
    EXPECT_EQ(waits.get(), std::string(40, 'x'));
    giver.join();
  }
}

// The waiter destroys the promise as soon as it has the value, while the giver may still be in set_value.
TEST(promise, may_be_destroyed_by_who_got_its_value) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 500; ++round) {
    auto p = std::make_unique<nopal::promise<int>>();
    auto f = p->get_future();
    pool.detach([q = p.get()] { q->set_value(1); });
    EXPECT_EQ(f.get(), 1);
    p.reset();
  }
}

TEST(promise, lets_a_stop_end_the_wait) {
  nopal::pool pool{{.workers = 1}};
  nopal::promise<int> p;
  auto f = p.get_future();
  std::stop_source stop;
  auto waits = pool.submit(stop.get_token(), [&] { return f.get(); });
  stop.request_stop();
  EXPECT_THROW(waits.get(), nopal::stopped);
  p.set_value(2);
  EXPECT_EQ(f.get(), 2);
}

}  // namespace
