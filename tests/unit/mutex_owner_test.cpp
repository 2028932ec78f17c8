// A mutex belongs to the strand that has locked it, and not to the next one on the same native stack.

#include <gtest/gtest.h>

#include <mutex>
#include <system_error>

#include "../scale.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::counter;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;

// After any locks, unlocks, waits and tries, the count is even at the end.
TEST(mutex_owner, whoever_unlocks_may_end) {
  nopal::pool pool{{.workers = 2}};
  nopal::mutex m;
  nopal::condition_variable changed;
  int turn = 0;
  auto const fiber = [&](int mine) {
    std::unique_lock lock{m};
    changed.wait(lock, [&] { return turn == mine; });
    EXPECT_FALSE(m.try_lock());
    EXPECT_THROW(m.lock(), std::system_error);
    ++turn;
    changed.notify_all();
    lock.unlock();
    while (!m.try_lock()) nopal::yield();
    std::unique_lock again{m, std::adopt_lock};
    nopal::mutex other;
    nopal::parallel_invoke([&] { std::scoped_lock const two{other}; }, [&] { std::scoped_lock const two{other}; });
  };
  auto const in_a_task = [&](int mine) -> task<void> {
    fiber(mine);
    co_await nopal::fork([]() -> task<void> { co_return; });
    co_await nopal::join;
    std::lock_guard const guard{m};
  };
  constexpr int n = 20;
  pool.run([&] {
    counter left;
    for (int k = n; k > 0; k -= 2) {
      spawn(left, [&, k] { fiber(k); });
      spawn(left, [&, k] { nopal::sync_wait(in_a_task, k - 1); });
    }
    fiber(0);
    wait_for(left);
  });
  EXPECT_EQ(turn, n + 1);
}

// A closure that owns the lock releases it in its destructor, before the fiber's end.
TEST(mutex_owner, a_fiber_s_closure_may_hold_the_lock) {
  nopal::pool pool{{.workers = 1}};
  nopal::mutex m;
  pool.run([&] {
    counter left;
    spawn(left, [lock = std::unique_lock{m, std::defer_lock}]() mutable { lock.lock(); });
    wait_for(left);
  });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

void ends_while_it_owns_one(int what) {
  nopal::mutex m;
  nopal::pool pool{{.workers = 1}};  // its end waits for the thread that says so
  if (what == 0) {
    pool.run([&] {
      counter left;
      spawn(left, [&] { m.lock(); });
      wait_for(left);
      spawn(left, [&] { m.unlock(); });  // usually on the same stack: an earlier version allowed it
      wait_for(left);
    });
  } else if (what == 1) {
    pool.run([&] { m.lock(); });
  } else if (what == 2) {
    auto const lock = [&]() -> task<void> {
      m.lock();
      co_return;
    };
    pool.submit(lock).get();
  }
}

TEST(mutex_owner_death, what_ends_while_it_owns_a_mutex_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(ends_while_it_owns_one(0), "nopal: a fiber has ended while it owns 1 nopal::mutex .the last that it locked was at 0x");
  EXPECT_DEATH(ends_while_it_owns_one(1), "nopal: a job has ended while it owns 1 nopal::mutex");
  EXPECT_DEATH(ends_while_it_owns_one(2), "nopal: a job has ended while it owns 1 nopal::mutex");
}

}  // namespace
