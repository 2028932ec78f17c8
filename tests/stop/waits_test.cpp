// Waits end early: each kind of wait, by each kind of waiter, before and after the request. Every test ends only if the wait does.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "nopal/channel.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::stopped;

/// The object of a wait: the wait never ends by itself.
struct things {
  nopal::counter count{1};
  nopal::channel<int> empty{1};
  nopal::channel<int> full{1};
  nopal::semaphore none{0};
  nopal::mutex mutex;
  nopal::condition_variable changed;
  nopal::pool elsewhere{{.workers = 1}};
  nopal::semaphore end_of_job{0};
  nopal::future<void> job;

  things() {
    full.push(0);
    job = elsewhere.submit([this] { end_of_job.acquire(); });
  }
  ~things() {
    count.done();
    end_of_job.release();
  }
};

struct wait {
  char const* name;
  void (*of)(things&);
};
std::vector<wait> const waits{
    {"wait_for", [](things& t) { nopal::wait_for(t.count); }},
    {"wait_for_an_hour", [](things& t) { nopal::wait_for(t.count, 0, 1h); }},
    {"pop", [](things& t) { t.empty.pop(); }},
    {"pop_for_an_hour", [](things& t) { t.empty.try_pop_for(1h); }},
    {"range_for",
     [](things& t) {
       for (int v : t.empty) static_cast<void>(v);
     }},
    {"push", [](things& t) { t.full.push(1); }},
    {"push_for_an_hour", [](things& t) { t.full.try_push_for(1, 1h); }},
    {"sleep", [](things&) { nopal::sleep_for(1h); }},
    {"sleep_until", [](things&) { nopal::sleep_until(std::chrono::system_clock::now() + 1h); }},
    {"acquire_for_an_hour", [](things& t) { t.none.try_acquire_for(1h); }},
    {"condition_for_an_hour",
     [](things& t) {
       std::unique_lock lock{t.mutex};
       try {
         t.changed.wait_for(lock, 1h);
       } catch (stopped const&) {
         EXPECT_TRUE(lock.owns_lock());
         lock.unlock();
         lock.lock();
         throw;
       }
     }},
    {"get", [](things& t) { t.job.get(); }},
    {"future_wait", [](things& t) { t.job.wait(); }},
    {"future_wait_for_an_hour", [](things& t) { t.job.wait_for(1h); }},
    {"await_counter", [](things& t) { nopal::sync_wait([](things& x) -> nopal::task<void> { co_await x.count.reaches(0); }, t); }},
    {"await_future", [](things& t) { nopal::sync_wait([](things& x) -> nopal::task<void> { co_await x.job; }, t); }},
};

/// Runs the wait, and returns how it has ended.
std::string outcome(wait const& w, things& t) {
  try {
    w.of(t);
    return "returned";
  } catch (stopped const& e) {
    return std::string{e.what()}.find("stop") != std::string::npos ? "stopped" : e.what();
  } catch (std::exception const& e) {
    return e.what();
  }
}

class each_wait : public testing::TestWithParam<std::size_t> {
 protected:
  wait const& it = waits[GetParam()];
};
INSTANTIATE_TEST_SUITE_P(every, each_wait, testing::Range(std::size_t{0}, waits.size()),
                         [](auto const& one) { return std::string{waits[one.param].name}; });

/// Makes the request once the other side is about to wait, and usually waits.
void request_soon(std::stop_source& s, std::atomic<bool> const& begun) {
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(2ms);
  s.request_stop();
}

TEST_P(each_wait, ends_on_a_worker) {
  for (unsigned const workers : {1u, 3u}) {
    things t;
    nopal::pool pool{{.workers = workers}};
    std::stop_source source;
    std::atomic<bool> begun{false};
    auto f = pool.submit(source.get_token(), [&] {
      begun = true;
      return outcome(it, t);
    });
    request_soon(source, begun);
    EXPECT_EQ(f.get(), "stopped");
  }
}

TEST_P(each_wait, ends_in_a_fiber) {
  things t;
  nopal::pool pool{{.workers = 2}};
  std::stop_source source;
  std::atomic<bool> begun{false};
  std::string how;
  nopal::counter left;
  nopal::with_stop(source.get_token(), [&] {
    pool.spawn(left, [&] {
      begun = true;
      how = outcome(it, t);
    });
  });
  request_soon(source, begun);
  nopal::wait_for(left);
  EXPECT_EQ(how, "stopped");
}

TEST_P(each_wait, ends_in_a_childs_child) {
  for (auto const schedule : {nopal::schedule::free, nopal::schedule::steal_always}) {
    things t;
    nopal::pool pool{{.workers = 2, .schedule = schedule}};
    std::stop_source source;
    std::atomic<bool> begun{false};
    std::string how;
    auto f = pool.submit(source.get_token(), [&] {
      nopal::scope s;
      s.fork([&] {
        nopal::parallel_invoke([] {},
                               [&] {
                                 begun = true;
                                 how = outcome(it, t);
                               });
      });
      s.join();
    });
    request_soon(source, begun);
    f.get();
    EXPECT_EQ(how, "stopped");
  }
}

TEST_P(each_wait, ends_on_a_thread_off_pools) {
  things t;
  std::stop_source source;
  std::atomic<bool> begun{false};
  std::string how;
  std::thread waiter{[&] {
    nopal::with_stop(source.get_token(), [&] {
      begun = true;
      how = outcome(it, t);
    });
  }};
  request_soon(source, begun);
  waiter.join();
  EXPECT_EQ(how, "stopped");
}

TEST_P(each_wait, ends_where_its_stack_stays) {
  things t;
  nopal::pool pool{{.workers = 2, .resume = nopal::resume::home}};
  std::stop_source source;
  std::atomic<bool> begun{false};
  auto f = pool.submit(source.get_token(), [&] {
    nopal::stay here;
    begun = true;
    return outcome(it, t);
  });
  request_soon(source, begun);
  EXPECT_EQ(f.get(), "stopped");
}

TEST_P(each_wait, does_not_begin_after_the_request) {
  things t;
  nopal::pool pool{{.workers = 1}};
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(pool.submit(source.get_token(), [&] { return outcome(it, t); }).get(), "stopped");
  EXPECT_EQ(nopal::with_stop(source.get_token(), [&] { return outcome(it, t); }), "stopped");
}

TEST_P(each_wait, ends_by_the_region_around) {
  things t;
  nopal::pool pool{{.workers = 2}};
  std::stop_source outer, inner;
  std::atomic<bool> begun{false};
  auto f = pool.submit(outer.get_token(), [&] {
    return nopal::with_stop(inner.get_token(), [&] {
      begun = true;
      return outcome(it, t);
    });
  });
  request_soon(outer, begun);
  EXPECT_EQ(f.get(), "stopped");
  EXPECT_FALSE(inner.stop_requested());
}

TEST_P(each_wait, ends_by_the_whole_pool) {
  things t;
  nopal::pool pool{{.workers = 2}};
  std::atomic<bool> begun{false};
  auto f = pool.submit(std::stop_source{}.get_token(), [&] {
    begun = true;
    return outcome(it, t);
  });
  while (!begun) std::this_thread::yield();
  pool.request_stop();
  EXPECT_TRUE(pool.stop_requested());
  EXPECT_EQ(f.get(), "stopped");
  EXPECT_EQ(pool.run([&] { return outcome(it, t); }), "stopped") << "also what begins later, in no region";
}

TEST_P(each_wait, ends_by_a_deadline) {
  things t;
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(pool.run([&] { return nopal::with_time_limit(5ms, [&] { return outcome(it, t); }); }), "stopped");
  EXPECT_EQ(nopal::with_deadline(std::chrono::system_clock::now() + 5ms, [&] { return outcome(it, t); }), "stopped");
  EXPECT_EQ(nopal::with_deadline(std::chrono::steady_clock::now() - 5ms, [&] { return outcome(it, t); }), "stopped");
}

TEST(waits, that_need_not_wait_return) {
  things t;
  nopal::pool pool{{.workers = 1}};
  std::stop_source source;
  source.request_stop();
  auto done = pool.submit([] { return 7; });
  done.wait();
  pool.submit(source.get_token(),
              [&] {
                nopal::counter zero;
                nopal::wait_for(zero);
                EXPECT_TRUE(nopal::wait_for(zero, 0, 1h));
                EXPECT_EQ(t.full.pop(), 0);
                EXPECT_TRUE(t.full.push(5));
                EXPECT_EQ(done.get(), 7);
                nopal::sleep_for(0s);
                nopal::semaphore one{1};
                EXPECT_TRUE(one.try_acquire_for(1h));
              })
      .get();
}

TEST(waits, of_which_nobody_asks_anything_go_on) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source source;
  source.request_stop();
  nopal::counter left;
  auto f = pool.submit(source.get_token(), [&] {
    nopal::spawn(left, [] { nopal::without_stop([] { nopal::sleep_for(2ms); }); });
    EXPECT_THROW(nopal::sleep_for(1h), stopped);
    nopal::without_stop([&] {
      EXPECT_FALSE(nopal::stop_requested());
      nopal::wait_for(left);
    });
    EXPECT_TRUE(nopal::stop_requested());
  });
  f.get();
}

// Locks and joins without a time limit do not end early, but what they wait for does.
TEST(waits, that_do_not_end_early) {
  nopal::pool pool{{.workers = 2}};
  std::stop_source source;
  nopal::mutex m;
  nopal::semaphore s{0};
  bool locked = false;
  std::unique_lock lock{m};
  std::atomic<bool> begun{false};
  auto f = pool.submit(source.get_token(), [&] {
    begun = true;
    std::lock_guard const guard{m};
    locked = true;
    s.acquire();
    EXPECT_TRUE(nopal::stop_requested());
  });
  request_soon(source, begun);
  lock.unlock();
  s.release();
  f.get();
  EXPECT_TRUE(locked);
}

TEST(waits, stop_point_throws) {
  std::stop_source source;
  nopal::stop_point();
  nopal::with_stop(source.get_token(), [&] {
    nopal::stop_point();
    source.request_stop();
    EXPECT_THROW(nopal::stop_point(), stopped);
  });
  nopal::stop_point();
}

TEST(waits, results_and_exceptions_come_out) {
  std::stop_source source;
  EXPECT_EQ(nopal::with_stop(source.get_token(), [](int x) { return x + 1; }, 4), 5);
  int x = 0;
  EXPECT_EQ(&nopal::with_stop(source.get_token(), [&]() -> int& { return x; }), &x);
  EXPECT_EQ(nopal::with_stop(source.get_token(), [](int k) -> nopal::task<int> { co_return k; }, 6), 6);
  EXPECT_THROW(nopal::with_stop(source.get_token(), [] { throw 5; }), int);
  EXPECT_FALSE(nopal::stop_requested());
  EXPECT_EQ(nopal::with_stop({}, [] { return nopal::stop_requested(); }), false);
}

// As documented: after an early end, the caller waits for the fibers that use the variables.
TEST(waits, a_function_can_end_in_order) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 50; ++round) {
    std::stop_source source;
    std::atomic<int> running{0};
    auto f = pool.submit(source.get_token(), [&] {
      int n = 0;
      nopal::mutex m;
      nopal::counter left;
      std::atomic<bool> given_up{false};
      for (int k = 0; k < 4; ++k) {
        nopal::spawn(left, [&] {
          ++running;
          while (!nopal::stop_requested() || !given_up) nopal::yield();
          std::lock_guard const guard{m};
          ++n;
        });
      }
      try {
        nopal::wait_for(left);
      } catch (stopped const&) {
        given_up = true;
        nopal::without_stop([&] { nopal::wait_for(left); });
        EXPECT_EQ(n, 4);
        throw;
      }
    });
    while (running == 0) std::this_thread::yield();
    source.request_stop();
    EXPECT_THROW(f.get(), stopped);
  }
}

}  // namespace
