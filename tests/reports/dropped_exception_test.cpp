// Exceptions of jobs and fibers that no caller fetches: none is lost in silence. pool::submit without its future, pool::detach, and fibers
// with and without a counter act alike.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "nopal/when_any.hpp"

namespace {

using namespace std::chrono_literals;

int fails(int n) {
  if (n >= 0) throw std::runtime_error{"the job's words"};
  return n;
}
nopal::task<int> task_fails(int n) {
  if (n >= 0) throw std::runtime_error{"the task's words"};
  co_return n;
}
/// Returns once the future's job has ended, and does not change the future.
template <class R>
void let_it_end(nopal::future<R> const& f) {
  while (!f.ready()) std::this_thread::yield();
}
void let_them_end(nopal::counter const& c) {
  while (c.load() != 0) std::this_thread::yield();
}

class dropped : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }

  template <class F>
  static void in_a_pool(F f) {
    nopal::pool pool{{.workers = 2}};
    f(pool);
  }
};

constexpr char const* jobs_message =
    "nopal: an exception left a job that was given to pool::submit \\(the job's words\\), and its future was destroyed before get\\(\\); "
    "call get\\(\\)";

TEST_F(dropped, future_of_a_job_that_throws_later) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { static_cast<void>(p.submit(fails, 1)); }), jobs_message);
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { static_cast<void>(p.submit(task_fails, 1)); }), "pool::submit \\(the task's words\\)");
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { static_cast<void>(p.submit(std::stop_token{}, fails, 1)); }), jobs_message);
}

TEST_F(dropped, future_of_a_job_that_has_thrown) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { let_it_end(p.submit(fails, 1)); }), jobs_message);
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { p.submit(fails, 1).wait(); }), jobs_message);  // which is not get()
}

TEST_F(dropped, future_that_is_assigned_to) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) {
                 auto f = p.submit(fails, 1);
                 f = p.submit(fails, -1);
                 f.get();
               }),
               jobs_message);
}

TEST_F(dropped, futures_that_have_lost) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) {
                 auto winner = p.submit(fails, -1), loser = p.submit(fails, 1);
                 static_cast<void>(nopal::when_any(winner, loser));
                 winner.get();
               }),
               jobs_message);
}

TEST_F(dropped, jobs_and_fibers_say_so_too) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { p.detach(fails, 1); }), "pool::detach \\(the job's words\\)");
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) { p.spawn([] { fails(1); }); }), "left a fiber \\(the job's words\\), and no counter");
}

TEST_F(dropped, counter_with_what_a_fiber_has_thrown) {
  EXPECT_DEATH(in_a_pool([](nopal::pool& p) {
                 nopal::counter left;
                 p.spawn(left, [] { fails(1); });
                 let_them_end(left);
               }),
               "nopal: an exception left a fiber \\(the job's words\\), and its counter was destroyed with it; call nopal::wait_for");
}

TEST_F(dropped, nothing_that_was_fetched) {
  in_a_pool([](nopal::pool& p) {
    auto f = p.submit(fails, 1), moved = p.submit(fails, 1);
    nopal::future<int> const empty;
    auto other = std::move(moved);
    EXPECT_THROW(f.get(), std::runtime_error);
    EXPECT_THROW(other.get(), std::runtime_error);
    EXPECT_EQ(p.submit(fails, -1).get(), -1);
    EXPECT_THROW(p.run([](nopal::future<int> g) -> nopal::task<int> { co_return co_await g; }, p.submit(fails, 1)), std::runtime_error);
    auto& same = f = p.submit(fails, -1);
    f = std::move(same);
    EXPECT_EQ(f.get(), -1);
  });
}

// As in a scope: the exception that unwinds takes precedence.
TEST_F(dropped, silently_where_another_exception_destroys_it) {
  for (bool const ended : {false, true}) {
    std::atomic<bool> go{ended};  // which the pool's jobs use until it ends
    in_a_pool([&go, ended](nopal::pool& p) {
      EXPECT_THROW(
          {
            auto const f = p.submit([&go] {
              while (!go) std::this_thread::yield();
              return fails(1);
            });
            std::vector<nopal::future<int>> more;
            more.push_back(p.submit(fails, 2));
            if (ended) let_it_end(f);
            throw 42;
          },
          int);
      go = true;
    });
  }
  in_a_pool([](nopal::pool& p) {
    EXPECT_THROW(
        {
          nopal::counter left;
          p.spawn(left, [] { fails(1); });
          let_them_end(left);
          throw 42;
        },
        int);
    EXPECT_EQ(p.report().find("the job's words"), std::string::npos);  // which must not look for it where the counter was
  });
}

// A requested stop is not a failure.
TEST_F(dropped, silently_where_it_was_stopped) {
  in_a_pool([](nopal::pool& p) {
    std::stop_source source;
    static_cast<void>(p.submit(source.get_token(), [] { nopal::sleep_for(1h); }));
    source.request_stop();
  });
  in_a_pool([](nopal::pool& p) {
    nopal::counter left;
    p.request_stop();
    p.detach([] { nopal::stop_point(); });
    p.spawn([] { nopal::stop_point(); });
    p.spawn(left, [] { nopal::stop_point(); });
    static_cast<void>(p.submit([] { nopal::stop_point(); }));
    let_them_end(left);
  });
}

}  // namespace
