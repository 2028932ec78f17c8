// The scheduler of a pool: where its senders complete, how they stop, and from where one can wait for them.

#include <gtest/gtest.h>

#include <atomic>
#include <exec/single_thread_context.hpp>
#include <memory>
#include <stdexcept>
#include <stdexec/execution.hpp>
#include <string>
#include <thread>
#include <tuple>

#include "nopal/execution.hpp"
#include "nopal/nopal.hpp"

namespace ex = stdexec;

namespace {

struct scheduler : testing::Test {
  nopal::pool pool{{.workers = 2}};
  decltype(nopal::get_scheduler(pool)) here = nopal::get_scheduler(pool);
};

// A receiver that counts how it was completed, with a token of its own.
struct ending {
  std::atomic<int> values{0};
  std::atomic<int> stopped{0};
  nopal::latch done{1};
};
struct noting {
  using receiver_concept = ex::receiver_tag;
  ending* to;
  ex::inplace_stop_token token;
  void set_value() noexcept {
    ++to->values;
    to->done.count_down();
  }
  void set_stopped() noexcept {
    ++to->stopped;
    to->done.count_down();
  }
  auto get_env() const noexcept { return ex::prop{ex::get_stop_token, token}; }
};

}  // namespace

TEST_F(scheduler, models_a_scheduler_of_parallel_forward_progress) {
  static_assert(ex::scheduler<decltype(here)>);
  static_assert(noexcept(nopal::get_scheduler(pool)) && noexcept(here.schedule()));
  nopal::pool other{{.workers = 1}};
  EXPECT_EQ(ex::get_forward_progress_guarantee(here), ex::forward_progress_guarantee::parallel);
  EXPECT_TRUE(here == nopal::get_scheduler(pool));
  EXPECT_TRUE(here != nopal::get_scheduler(other));
  EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(ex::schedule(here))) == here);
  static_assert(
      std::is_same_v<decltype(ex::get_completion_domain<ex::set_value_t>(ex::get_env(ex::schedule(here)))), nopal::core::senders::domain>);
}

TEST_F(scheduler, completes_on_a_worker_of_its_pool) {
  auto const [seen] =
      *ex::sync_wait(ex::schedule(here) | ex::then([] { return std::pair{nopal::pool::current(), std::this_thread::get_id()}; }) |
                     ex::let_value([](auto& s) { return ex::just(s); }));
  auto const [on, worker] = seen;
  EXPECT_EQ(on, &pool);
  EXPECT_NE(worker, std::this_thread::get_id());  // what a let_value returns might need the thread that waits, so that sleeps
  EXPECT_EQ(nopal::pool::current(), nullptr);
}

TEST_F(scheduler, goes_on_where_algorithms_say) {
  nopal::pool other{{.workers = 1}};
  exec::single_thread_context apart;
  auto const there = nopal::get_scheduler(other);
  auto where = [] { return nopal::pool::current(); };
  std::vector<nopal::pool*> seen;
  auto note = [&] { seen.push_back(where()); };
  ex::sync_wait(ex::starts_on(here, ex::just() | ex::then(note)) | ex::continues_on(there) | ex::then(note) |
                ex::continues_on(apart.get_scheduler()) | ex::then(note) | ex::continues_on(here) | ex::then(note));
  EXPECT_EQ(seen, (std::vector<nopal::pool*>{&pool, &other, nullptr, &pool}));
  auto const [pair] =
      *ex::sync_wait(ex::on(here, ex::just() | ex::then(where)) | ex::then([&](nopal::pool* p) { return std::pair{p, where()}; }));
  auto const [on, back] = pair;
  EXPECT_EQ(on, &pool);
  EXPECT_EQ(back, nullptr);
}

TEST_F(scheduler, joins_several_and_chains) {
  auto number = [&](int i) { return ex::schedule(here) | ex::then([i] { return i; }); };
  auto const [a, b, c] = *ex::sync_wait(ex::when_all(number(1), number(20), number(300)));
  EXPECT_EQ(a + b + c, 321);
  auto const [text] = *ex::sync_wait(
      number(4) | ex::let_value([&](int& n) { return number(n * 10) | ex::then([&n](int m) { return std::to_string(n + m); }); }));
  EXPECT_EQ(text, "44");
}

TEST_F(scheduler, hands_over_what_can_only_be_moved) {
  auto const [p] = *ex::sync_wait(ex::just(std::make_unique<int>(7)) | ex::continues_on(here) | ex::then([](std::unique_ptr<int> q) {
                                    ++*q;
                                    return q;
                                  }));
  EXPECT_EQ(*p, 8);
}

TEST_F(scheduler, passes_errors_on) {
  EXPECT_THROW(ex::sync_wait(ex::schedule(here) | ex::then([] { throw std::runtime_error{"so"}; })), std::runtime_error);
  EXPECT_THROW(ex::sync_wait(ex::when_all(ex::schedule(here), ex::schedule(here) | ex::then([] { throw 5; }))), int);
  auto const [n] =
      *ex::sync_wait(ex::schedule(here) | ex::then([]() -> int { throw 5; }) | ex::upon_error([](std::exception_ptr const&) { return 6; }));
  EXPECT_EQ(n, 6);
}

TEST_F(scheduler, stops_what_was_asked_before_the_start) {
  ex::inplace_stop_source stop;
  stop.request_stop();
  ending e;
  auto op = ex::connect(ex::schedule(here), noting{&e, stop.get_token()});
  ex::start(op);
  e.done.wait();
  EXPECT_EQ(e.stopped, 1);
  EXPECT_EQ(e.values, 0);
}

TEST(scheduler_alone, stops_what_was_asked_before_a_worker_begins_it) {
  nopal::pool pool{{.workers = 1}};
  ex::inplace_stop_source stop;
  ending e;
  auto op = ex::connect(ex::schedule(nopal::get_scheduler(pool)), noting{&e, stop.get_token()});
  pool.run([&] {
    ex::start(op);  // behind us: we are the only worker, and do not wait
    EXPECT_EQ(e.values + e.stopped, 0);
    stop.request_stop();
  });
  e.done.wait();
  EXPECT_EQ(e.stopped, 1);
}

TEST_F(scheduler, may_be_connected_more_than_once) {
  auto const s = ex::schedule(here);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ex::sync_wait(s | ex::then([] {})).has_value());
}

TEST_F(scheduler, inherits_priority_and_stop_region_from_where_it_is_started) {
  std::stop_source stop;
  bool asked = false;
  auto urgency = nopal::priority::normal;
  nopal::with_stop(stop.get_token(), [&] {
    ex::sync_wait(ex::schedule(here) | ex::then([&] {
                    stop.request_stop();
                    asked = nopal::stop_requested();
                  }));
  });
  EXPECT_TRUE(asked);
  pool.run(nopal::priority::high, [&] { ex::sync_wait(ex::schedule(here) | ex::then([&] { urgency = nopal::current_priority(); })); });
  EXPECT_EQ(urgency, nopal::priority::high);
  EXPECT_FALSE(nopal::stop_requested());
}

// A worker that blocked its thread in sync_wait would wait for itself for ever.
TEST(scheduler_alone, sync_wait_on_a_worker_lets_the_worker_run_others) {
  nopal::pool pool{{.workers = 1}};
  auto const here = nopal::get_scheduler(pool);
  auto one = [&] { return std::get<0>(*ex::sync_wait(ex::schedule(here) | ex::then([] { return 1; }))); };
  EXPECT_EQ(pool.run(one), 1);
  int nested = 0;
  pool.run([&] { ex::sync_wait(ex::schedule(here) | ex::then([&] { nested = one() + one(); })); });
  EXPECT_EQ(nested, 2);
  nopal::counter fibers;
  std::atomic<int> sum{0};
  for (int i = 0; i < 100; ++i) pool.spawn(fibers, [&] { sum += one(); });
  nopal::wait_for(fibers);
  EXPECT_EQ(sum, 100);
  sum = 0;
  pool.run([&] { nopal::parallel_for(0, 100, [&](int) { sum += one(); }); });
  EXPECT_EQ(sum, 100);
  pool.run([&] {
    nopal::parallel_invoke([&] { sum += one(); }, [&] { sum += one(); });
    EXPECT_THROW(ex::sync_wait(ex::schedule(here) | ex::then([] { throw 1; })), int);
    auto const [same] = *ex::sync_wait(
        ex::just(3) | ex::let_value([&](int i) { return ex::schedule(here) | ex::then([i] { return i; }); }) | ex::continues_on(here));
    EXPECT_EQ(same, 3);
  });
  EXPECT_EQ(sum, 102);
}

// On a thread outside sync_wait runs what it waits for in the place of a sleeping worker, if one sleeps: in each case on the pool.
TEST(scheduler_alone, sync_wait_outside_runs_its_work_on_the_pool) {
  nopal::pool pool{{.workers = 1}};
  auto const here = nopal::get_scheduler(pool);
  auto where = [&] { return nopal::pool::current() == &pool; };
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(std::get<0>(*ex::sync_wait(ex::schedule(here) | ex::then(where))));
    EXPECT_EQ(nopal::pool::current(), nullptr);
    EXPECT_EQ(std::get<0>(*ex::sync_wait(nopal::as_sender(pool, [](int x) { return x + 1; }, i))), i + 1);
  }
  EXPECT_THROW(ex::sync_wait(ex::schedule(here) | ex::then([] { throw 1; })), int);
  EXPECT_FALSE(ex::sync_wait(nopal::as_sender(pool, [] { throw nopal::stopped{}; })).has_value());
  ex::inplace_stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(ex::sync_wait(ex::schedule(here) | ex::write_env(ex::prop{ex::get_stop_token, stop.get_token()})).has_value());
  std::atomic<int> n{0};
  ex::sync_wait(ex::schedule(here) | ex::then([&] {  // waits, for what the only worker runs meanwhile
                  nopal::counter fibers;
                  for (int i = 0; i < 10; ++i) pool.spawn(fibers, [&] { ++n; });
                  nopal::wait_for(fibers);
                  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 100, [&](int) { ++n; }));
                }));
  EXPECT_EQ(n, 110);
}

TEST(scheduler_alone, sync_wait_of_several_threads_at_once) {
  nopal::pool pool{{.workers = 1}};
  auto const here = nopal::get_scheduler(pool);
  std::atomic<int> n{0};
  auto many = [&] {
    for (int i = 0; i < 200; ++i) ex::sync_wait(ex::schedule(here) | ex::then([&] { ++n; }) | ex::bulk(ex::par, 3, [&](int) { ++n; }));
  };
  std::thread a{many};
  std::thread b{many};
  many();
  a.join();
  b.join();
  EXPECT_EQ(n, 3 * 200 * 4);
}

TEST_F(scheduler, sync_wait_throws_what_connecting_throws) {
  struct copies_once {
    int* left;
    explicit copies_once(int* n) : left{n} {}
    copies_once(copies_once const& other) : left{other.left} {
      if (--*left < 0) throw std::runtime_error{"copied"};
    }
    void operator()() const {}
  };
  int left = 100;
  auto const s = ex::schedule(here) | ex::then(copies_once{&left});
  EXPECT_TRUE(ex::sync_wait(s).has_value());
  left = 0;
  EXPECT_THROW(ex::sync_wait(s), std::runtime_error);
  EXPECT_THROW(pool.run([&] { ex::sync_wait(s); }), std::runtime_error);
}

// What might need the thread that waits, or begin on it, is waited for as the standard says.
TEST_F(scheduler, only_what_needs_no_thread_outside_runs_in_place_of_a_worker) {
  auto of = [](auto const& s) { return nopal::core::senders::only_gives_work<std::remove_cvref_t<decltype(s)>>(); };
  auto nothing = [](auto&&...) {};
  EXPECT_TRUE(of(ex::schedule(here)));
  EXPECT_TRUE(of(nopal::as_sender(pool, [] { return 1; })));
  EXPECT_TRUE(of(ex::schedule(here) | ex::then(nothing) | ex::bulk(ex::par, 3, nothing) | ex::bulk_chunked(ex::par, 3, nothing)));
  EXPECT_FALSE(of(ex::just() | ex::then(nothing) | ex::continues_on(here)));
  EXPECT_FALSE(of(ex::schedule(here) | ex::let_value([] { return ex::just(); })));
  EXPECT_FALSE(of(ex::when_all(ex::schedule(here), ex::schedule(here))));
  EXPECT_FALSE(of(nopal::as_sender([] { return 1; })));
}

TEST(scheduler_alone, what_ends_elsewhere_is_waited_for_in_block_on) {
  nopal::pool pool{{.workers = 1}};
  auto const here = nopal::get_scheduler(pool);
  exec::single_thread_context apart;
  pool.run([&] {
    auto const r = nopal::block_on(
        [&] { return ex::sync_wait(ex::schedule(here) | ex::continues_on(apart.get_scheduler()) | ex::then([] { return 2; })); });
    EXPECT_EQ(std::get<0>(*r), 2);
  });
}

TEST_F(scheduler, work_may_wait_fork_and_loop) {
  std::atomic<int> n{0};
  nopal::latch both{2};
  auto meets = ex::schedule(here) | ex::then([&] {
                 both.arrive_and_wait();
                 nopal::parallel_for(0, 1000, [&](int) { ++n; });
                 nopal::parallel_invoke([&] { ++n; }, [&] { ++n; });
               });
  ex::sync_wait(ex::when_all(meets, meets));
  EXPECT_EQ(n, 2 * 1002);
}

// The pool ends while the thread that has started its last work is still inside of start.
TEST(scheduler_alone, a_pool_ends_after_the_thread_that_has_started_its_work) {
  for (int i = 0; i < 50; ++i) {
    exec::single_thread_context apart;
    nopal::pool pool{{.workers = 1}};
    ex::sync_wait(ex::schedule(apart.get_scheduler()) | ex::continues_on(nopal::get_scheduler(pool)) | ex::then([] {}));
  }
}

TEST_F(scheduler, many_at_once_from_inside_and_outside) {
  std::atomic<int> n{0};
  auto one = [&] { return ex::schedule(here) | ex::then([&] { ++n; }); };
  auto many = [&] {
    for (int i = 0; i < 500; ++i) ex::sync_wait(ex::when_all(one(), one(), one(), one()));
  };
  std::thread t{many};
  pool.run([&] { nopal::parallel_invoke(many, many); });
  many();
  t.join();
  EXPECT_EQ(n, 4 * 500 * 4);
}
