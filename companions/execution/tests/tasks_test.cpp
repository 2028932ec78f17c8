// as_sender and co_await of senders in tasks.

#include <gtest/gtest.h>

#include <atomic>
#include <exec/single_thread_context.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stdexec/execution.hpp>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>

#include "nopal/execution.hpp"
#include "nopal/nopal.hpp"

namespace ex = stdexec;

namespace {

nopal::task<long> fib(int n) {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}
nopal::task<> throws(int i) {
  throw i;
  co_return;
}
nopal::task<std::unique_ptr<int>> doubles(std::unique_ptr<int> p, int& calls) {
  *p *= 2;
  ++calls;
  co_return std::move(p);
}

// Completes with set_stopped once it is asked to, on the thread that asks.
struct until_stopped {
  using sender_concept = ex::sender_tag;
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>{};
  }
  std::atomic<bool>* begun;
  template <class Receiver>
  struct operation {
    struct stop {
      operation* op;
      void operator()() noexcept { op->ended(); }
    };
    using operation_state_concept = ex::operation_state_tag;
    Receiver r;
    std::atomic<bool>* begun;
    std::atomic<int> left{2};  // start and the request
    std::optional<ex::stop_callback_for_t<ex::stop_token_of_t<ex::env_of_t<Receiver>>, stop>> asked{};
    void start() & noexcept {
      asked.emplace(ex::get_stop_token(ex::get_env(r)), stop{this});
      *begun = true;
      ended();
    }
    void ended() noexcept {
      if (--left != 0) return;
      ex::set_stopped(std::move(r));
    }
  };
  template <class Receiver>
  auto connect(Receiver r) const {
    return operation<Receiver>{std::move(r), begun};
  }
};

struct tasks : testing::Test {
  nopal::pool pool{{.workers = 2}};
  decltype(nopal::get_scheduler(pool)) here = nopal::get_scheduler(pool);
};

}  // namespace

// ---- as_sender

TEST_F(tasks, a_coroutine_function_is_a_sender_of_its_result) {
  EXPECT_EQ(std::get<0>(*ex::sync_wait(nopal::as_sender(pool, fib, 20))), 6765);
  auto const [a, b] =
      *ex::sync_wait(ex::when_all(nopal::as_sender(pool, fib, 15), nopal::as_sender(pool, fib, 16) | ex::then([](long x) { return -x; })));
  EXPECT_EQ(a, 610);
  EXPECT_EQ(b, -987);
  EXPECT_EQ(std::get<0>(*ex::sync_wait(nopal::as_sender(pool, [](int i) { return i + 1; }, 4))), 5);
  nopal::pool* on = nullptr;
  EXPECT_TRUE(ex::sync_wait(nopal::as_sender(pool, [&] { on = nopal::pool::current(); })).has_value());
  EXPECT_EQ(on, &pool);
}

TEST_F(tasks, keeps_arguments_as_submit_does) {
  int calls = 0;
  auto const [p] = *ex::sync_wait(nopal::as_sender(pool, doubles, std::make_unique<int>(21), calls));
  EXPECT_EQ(*p, 42);
  EXPECT_EQ(calls, 1);
  int x = 1;
  auto const s = nopal::as_sender(pool, [](int& r) -> int& { return ++r; }, x);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(std::get<0>(*ex::sync_wait(s | ex::then([](int& r) { return &r; }))), &x);
  EXPECT_EQ(x, 4);
}

TEST_F(tasks, runs_on_the_pool_of_the_worker_that_starts_it_or_the_default_pool) {
  auto where = [] { return nopal::pool::current(); };
  EXPECT_EQ(std::get<0>(*ex::sync_wait(nopal::as_sender(where))), &nopal::default_pool());
  EXPECT_EQ(
      pool.run([&] { return std::get<0>(*nopal::block_on([&] { return ex::sync_wait(ex::starts_on(here, nopal::as_sender(where))); })); }),
      &pool);
}

TEST_F(tasks, completes_with_what_is_thrown_or_stopped) {
  EXPECT_THROW(ex::sync_wait(nopal::as_sender(pool, throws, 3)), int);
  EXPECT_FALSE(ex::sync_wait(nopal::as_sender(pool, [] { throw nopal::stopped{}; })).has_value());
}

TEST_F(tasks, a_job_sees_a_request_of_the_receivers_token) {
  ex::inplace_stop_source stop;
  bool seen = false;
  auto job = [&] {
    stop.request_stop();
    nopal::parallel_invoke([&] { seen = nopal::stop_requested(); }, [] {});
    nopal::stop_point();
  };
  auto const s = nopal::as_sender(pool, job) | ex::write_env(ex::prop{ex::get_stop_token, stop.get_token()});
  EXPECT_FALSE(ex::sync_wait(s).has_value());
  EXPECT_TRUE(seen);
  seen = false;
  EXPECT_FALSE(ex::sync_wait(s).has_value());  // asked before: it does not run
  EXPECT_FALSE(seen);
}

TEST_F(tasks, a_wait_in_a_job_ends_when_the_token_is_requested) {
  nopal::channel<int> never{1};
  auto const r = ex::sync_wait(
      ex::when_all(nopal::as_sender(pool, [&] { static_cast<void>(never.pop()); }), ex::schedule(here) | ex::then([] { throw 1; })) |
      ex::upon_error([](auto const&) {}));
  EXPECT_TRUE(r.has_value());
}

// ---- co_await

TEST_F(tasks, await_any_sender) {
  auto t = [&]() -> nopal::task<int> {
    int const one = co_await ex::just(1);
    auto const p = co_await (ex::just(std::make_unique<int>(2)) | ex::continues_on(here));
    auto [a, b] = co_await ex::just(3, std::string{"4"});
    co_await ex::schedule(here);
    long const f = co_await nopal::as_sender(fib, 10);
    auto const s = ex::schedule(here) | ex::then([] { return 5; });  // an lvalue
    int const five = co_await s;
    co_return one + *p + a + std::stoi(b) + static_cast<int>(f) + five;
  };
  EXPECT_EQ(pool.run(t), 1 + 2 + 3 + 4 + 55 + 5);
}

TEST_F(tasks, await_senders_that_end_on_threads_that_work_for_no_pool) {
  exec::single_thread_context apart;
  auto t = [&]() -> nopal::task<bool> {
    auto const id = co_await (ex::schedule(apart.get_scheduler()) | ex::then([] { return std::this_thread::get_id(); }));
    co_return id == apart.get_thread_id() && nopal::pool::current() == &pool;
  };
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(pool.run(t));
}

TEST_F(tasks, await_throws_errors_and_stops) {
  auto error = [](auto sender) { return [sender]() -> nopal::task<> { co_await sender; }; };
  EXPECT_THROW(pool.run(error(ex::just_error(5))), int);
  EXPECT_THROW(pool.run(error(ex::just_error(std::make_error_code(std::errc::timed_out)))), std::system_error);
  EXPECT_THROW(pool.run(error(ex::just_error(std::make_exception_ptr(std::runtime_error{""})))), std::runtime_error);
  EXPECT_THROW(pool.run(error(ex::just_stopped())), nopal::stopped);
  EXPECT_THROW(pool.run(error(ex::schedule(here) | ex::then([] { throw 6; }))), int);
}

TEST_F(tasks, await_between_fork_and_join) {
  auto t = [&](bool fails) -> nopal::task<long> {
    long a = 0;
    co_await nopal::fork(&a, fib, 15);
    long const b = co_await (ex::schedule(here) | ex::then([fails] { return fails ? throw 7 : 100L; }));
    co_await nopal::join;
    co_return a + b;
  };
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(pool.run(t, false), 710);
    EXPECT_THROW(pool.run(t, true), int);
  }
}

TEST_F(tasks, a_task_that_awaits_knows_its_pool_as_scheduler) {
  auto t = [&]() -> nopal::task<bool> { co_return co_await ex::read_env(ex::get_scheduler) == here; };
  EXPECT_TRUE(pool.run(t));
}

TEST_F(tasks, a_request_in_the_region_of_a_task_reaches_the_sender_that_it_awaits) {
  std::stop_source stop;
  std::atomic<bool> begun{false};
  auto t = [&]() -> nopal::task<> { co_await until_stopped{&begun}; };
  auto f = pool.submit(stop.get_token(), t);
  while (!begun) std::this_thread::yield();
  stop.request_stop();
  EXPECT_THROW(f.get(), nopal::stopped);
}

TEST_F(tasks, a_request_in_the_region_of_sync_wait_on_a_worker_reaches_the_sender) {
  std::stop_source stop;
  std::atomic<bool> begun{false};
  auto f = pool.submit(stop.get_token(), [&] {
    return ex::sync_wait(ex::schedule(here) | ex::let_value([&] { return ex::starts_on(here, until_stopped{&begun}); }) |
                         ex::continues_on(here))
        .has_value();
  });
  while (!begun) std::this_thread::yield();
  stop.request_stop();
  EXPECT_FALSE(f.get());
}

TEST_F(tasks, a_request_that_came_before_reaches_the_sender_too) {
  std::stop_source stop;
  stop.request_stop();
  std::atomic<bool> begun{false};
  auto t = [&]() -> nopal::task<> { co_await until_stopped{&begun}; };
  EXPECT_THROW(pool.submit(stop.get_token(), t).get(), nopal::stopped);
}

TEST_F(tasks, nest_in_senders_in_tasks) {
  auto inner = [&](int i) -> nopal::task<int> { co_return co_await (ex::schedule(here) | ex::then([i] { return i; })); };
  auto outer = [&]() -> nopal::task<int> {
    int sum = 0;
    for (int i = 0; i < 20; ++i) sum += co_await (nopal::as_sender(pool, inner, i) | ex::then([](int x) { return x + 1; }));
    co_return sum;
  };
  EXPECT_EQ(std::get<0>(*ex::sync_wait(nopal::as_sender(pool, outer))), 210);
}
