// Exceptions: where they are thrown, which one, and what must have ended then. An exception that cannot be thrown ends the program with a
// message.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

/// An exception with a number, which counts its living instances.
struct numbered : std::exception {
  explicit numbered(int n) : number{n} { ++living; }
  numbered(numbered const& o) noexcept : std::exception{o}, number{o.number} { ++living; }
  numbered& operator=(numbered const&) = default;
  ~numbered() override { --living; }
  char const* what() const noexcept override { return "numbered"; }
  int number;
  static inline std::atomic<int> living{0};
};

/// Checks that every instance made during a test is destroyed.
class exceptions : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(numbered::living.load(), 0); }
};

template <class F>
void on_some_pools(F&& f) {
  for (unsigned const workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    for (int k = 0; k < 20; ++k) f(pool);
  }
}

/// The number of the numbered exception that f throws; -1 if none.
template <class F>
int number_thrown_by(F&& f) {
  try {
    f();
  } catch (numbered const& e) {
    return e.number;
  }
  return -1;
}

task<int> throws(int n) {
  if (n >= 0) throw numbered{n};
  co_return n;
}

task<int> forks_one_that_throws() {
  int a = 0;
  co_await fork(&a, throws, 7);
  co_await join;
  co_return a;
}
task<int> calls_one_that_throws() { co_return co_await call(throws, 8); }
task<int> calls_with_a_slot() {
  int a = 0;
  co_await call(&a, throws, 9);
  co_return a;
}
task<> throws_itself(int n) {
  throw numbered{n};
  co_return;
}

TEST_F(exceptions, come_out_of_run) {
  on_some_pools([](nopal::pool& pool) {
    EXPECT_EQ(number_thrown_by([&] { pool.run(throws, 6); }), 6);
    EXPECT_EQ(number_thrown_by([&] { pool.run(forks_one_that_throws); }), 7);
    EXPECT_EQ(number_thrown_by([&] { pool.run(calls_one_that_throws); }), 8);
    EXPECT_EQ(number_thrown_by([&] { pool.run(calls_with_a_slot); }), 9);
    EXPECT_EQ(number_thrown_by([&] { pool.run(throws_itself, 5); }), 5);
  });
}

task<int> catches_at_join() {
  int caught = 0;
  co_await fork(throws, 1);
  co_await fork(throws, -1);
  try {
    co_await join;
  } catch (numbered const& e) {
    caught += e.number;
  }
  try {
    co_await call(throws, 20);
  } catch (numbered const& e) {
    caught += e.number;
  }
  co_await fork(throws, -1);
  co_await join;
  co_return caught;
}

TEST_F(exceptions, are_caught_by_a_task_that_goes_on) {
  on_some_pools([](nopal::pool& pool) { EXPECT_EQ(pool.run(catches_at_join), 21); });
}

/// Throws when its flag is set, which is after its younger sibling has thrown.
task<> throws_late(int n, std::atomic<bool>& told) {
  while (!told.load()) std::this_thread::yield();
  throw numbered{n};
  co_return;
}
task<> throws_and_tells(int n, std::atomic<bool>& told) {
  struct tell {
    std::atomic<bool>& flag;
    ~tell() { flag = true; }
  } const at_end{told};
  throw numbered{n};
  co_return;
}
task<> the_older_throws_later() {
  std::atomic<bool> told{false};
  co_await fork(throws_late, 1, told);
  co_await fork(throws_and_tells, 2, told);
  co_await join;
}
task<> the_older_throws_after_a_called_one() {
  std::atomic<bool> told{false};
  co_await fork(throws_late, 3, told);
  co_await call(throws_and_tells, 4, told);
}

TEST_F(exceptions, of_older_children_come_first_even_if_thrown_later) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(number_thrown_by([&] { pool.run(the_older_throws_later); }), 1);
    ASSERT_EQ(number_thrown_by([&] { pool.run(the_older_throws_after_a_called_one); }), 3);
  }
}

/// Alive, and counted, until it has seen its parent continue after an exception of a sibling, or long enough.
task<> lives(std::atomic<int>& alive, std::atomic<bool>& sibling_threw) {
  ++alive;
  while (!sibling_threw.load()) std::this_thread::yield();
  for (int k = 0; k < 100; ++k) std::this_thread::yield();
  --alive;
  co_return;
}
task<int> catches_while_a_child_runs() {
  std::atomic<int> alive{0};
  std::atomic<bool> threw{false};
  co_await fork(lives, alive, threw);
  try {
    co_await call(throws_and_tells, 1, threw);
  } catch (numbered const&) {
    co_return alive.load();
  }
  co_return -1;
}

TEST_F(exceptions, wait_for_children_that_still_run) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 50; ++k) ASSERT_EQ(pool.run(catches_while_a_child_runs), 0);
}

/// An argument. Its n-th copy or move throws.
struct fragile {
  explicit fragile(int n) : copies_left{n} {}
  fragile(fragile const& o) : copies_left{o.copies_left - 1} {
    if (copies_left < 0) throw numbered{77};
  }
  fragile& operator=(fragile const&) = default;
  int copies_left;
};
task<int> takes_fragile(fragile f) { co_return f.copies_left; }
task<int> calls_a_child_that_cannot_start(int copies) { co_return co_await call(takes_fragile, fragile{copies}); }
/// The number of instances after the fork, or the sum of the numbers caught at it and at the join.
task<int> forks_a_child_that_cannot_start(int copies) {
  fragile const f{copies};
  int other = 0, left = 0, caught = 0;
  std::atomic<bool> ran{false};
  co_await fork(&other, takes_fragile, fragile{100});
  auto const sibling = [&ran]() -> task<> {
    ran = true;
    co_return;
  };
  try {
    co_await fork(sibling);
    co_await fork(&left, takes_fragile, f);
  } catch (numbered const& e) {
    caught += e.number;
  }
  try {
    co_await join;
  } catch (numbered const& e) {
    caught += e.number;
  }
  if (!ran) co_return -1;
  co_return caught != 0 ? caught * 100 : left;
}

TEST_F(exceptions, of_an_argument_come_out_of_the_parent) {
  on_some_pools([](nopal::pool& pool) {
    int const of_call = 50 - pool.run(calls_a_child_that_cannot_start, 50);
    int const of_fork = 50 - pool.run(forks_a_child_that_cannot_start, 50);
    ASSERT_GT(of_call, 0);
    ASSERT_GT(of_fork, 0);
    for (int copies = 0; copies < of_call; ++copies) {
      EXPECT_EQ(number_thrown_by([&] { pool.run(calls_a_child_that_cannot_start, copies); }), 77) << copies;
    }
    for (int copies = 0; copies < of_fork; ++copies) {
      EXPECT_EQ(pool.run(forks_a_child_that_cannot_start, copies), 7700) << copies;
    }
    EXPECT_EQ(number_thrown_by([&] { pool.run(takes_fragile, fragile{0}); }), 77);
  });
}

task<> throws_at_depth(int n) {
  if (n == 0) throw numbered{n};
  if (n % 2 == 0) {
    co_await fork(throws_at_depth, n - 1);
    co_await join;
  } else {
    co_await call(throws_at_depth, n - 1);
  }
}

TEST_F(exceptions, climb_from_great_depth) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(number_thrown_by([&] { pool.run(throws_at_depth, 3000); }), 0);
}

TEST_F(exceptions, nobody_asks_for_are_destroyed_with_futures_that_another_destroys) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(number_thrown_by([&] {
                auto const dropped = pool.submit(throws, k);
                auto const waited_for = pool.submit(throws_itself, k);
                waited_for.wait();
                throw numbered{100 + k};
              }),
              100 + k);
  }
}

TEST_F(exceptions, may_be_of_any_type) {
  nopal::pool pool{{.workers = 1}};
  EXPECT_THROW(pool.run([]() -> task<> {
    throw 42;
    co_return;
  }),
               int);
}

// ---- What ends the program.

class death : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

task<> does_nothing() { co_return; }
task<> does_not_join() {
  co_await fork(does_nothing);
  co_return;
}
task<int> does_not_join_its_value() {
  co_await fork(does_nothing);
  co_return 1;
}

TEST_F(death, of_a_task_that_does_not_join) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run(does_not_join);
      },
      "nopal: a task ended with forked children not joined; write co_await nopal::join");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run(does_not_join_its_value);
      },
      "nopal: a task ended with forked children not joined");
}

task<> throws_between_fork_and_join(bool standard) {
  co_await fork(does_nothing);
  if (standard) throw std::runtime_error{"a message of the user's"};
  throw 42;
}

TEST_F(death, of_a_task_that_throws_between_fork_and_join) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run(throws_between_fork_and_join, true);
      },
      "nopal: an exception left a task between fork and join.*a message of the user's");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run(throws_between_fork_and_join, false);
      },
      "nopal: an exception left a task between fork and join.*not a std::exception");
}

TEST_F(death, of_a_detached_job_that_throws) {
  auto const fails = [] { throw std::runtime_error{"a message of the user's"}; };
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.detach(fails);
      },
      "nopal: an exception left a job that was given to pool::detach.*a message of the user's");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.detach(throws_itself, 3);
      },
      "nopal: an exception left a job that was given to pool::detach.*numbered");
}

TEST_F(death, of_a_direct_call_outside_a_pool) {
  EXPECT_DEATH((void)does_not_join(), "nopal: a task's function was called directly outside a pool; use nopal::pool::run");
}

TEST_F(death, of_a_task_that_destroys_its_pool) {
  EXPECT_DEATH(
      {
        auto pool = std::make_unique<nopal::pool>(nopal::pool_options{.workers = 1});
        pool->run([&] { pool.reset(); });
      },
      "nopal: a pool was destroyed by a task that runs on it");
}

}  // namespace
