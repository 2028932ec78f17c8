// Mutual exclusion, between all kinds of threads.

#include "nopal/mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_some_pools;

TEST(mutex_test, locks_and_unlocks) {
  auto const use = [] {
    nopal::mutex m, other;
    m.lock();
    EXPECT_FALSE(m.try_lock());
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    {
      std::unique_lock lock{m, std::defer_lock};
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
      lock.lock();
    }
    std::scoped_lock const both{m, other};
    EXPECT_FALSE(m.try_lock());
    EXPECT_FALSE(other.try_lock());
  };
  use();
  nopal::pool pool{{.workers = 2}};
  pool.run(use);
}

constinit nopal::mutex before_main;

TEST(mutex_test, may_be_constinit) { std::lock_guard const guard{before_main}; }

/// Counts up under a mutex. Two at once would make the count wrong.
struct tally {
  nopal::mutex m;
  long n = 0;
  bool inside = false;

  void once(bool leaves) {
    std::lock_guard const guard{m};
    ASSERT_FALSE(inside);
    inside = true;
    long const seen = n;
    if (leaves) nopal::yield();
    n = seen + 1;
    inside = false;
  }
};

TEST(mutex_test, fibers_exclude_each_other) {
  on_some_pools([](nopal::pool& pool) {
    tally t;
    long const times = test::scaled(200);
    pool.run([&] {
      counter left;
      for (int k = 0; k < 50; ++k) {
        spawn(left, [&, k] {
          for (long i = 0; i < times; ++i) t.once((k + i) % 8 == 0);
        });
      }
      wait_for(left);
    });
    EXPECT_EQ(t.n, 50 * times);
  });
}

TEST(mutex_test, everybody_excludes_everybody) {
  on_some_pools([](nopal::pool& pool) {
    tally t;
    long const times = test::scaled(1000);
    auto const work = [&] {
      for (long i = 0; i < times; ++i) t.once(i % 16 == 0);
    };
    auto const as_task = [](tally& mine, long n) -> task<void> {
      long one = 0;
      for (long i = 0; i < n; ++i) {
        co_await nopal::fork(&one, [](long x) -> task<long> { co_return x; }, 1L);
        mine.once(i % 16 == 0);
        co_await nopal::join;
      }
    };
    std::vector<std::thread> outside;
    for (int k = 0; k < 2; ++k) outside.emplace_back(work);
    auto f = pool.submit(as_task, t, times);
    pool.run([&] {
      counter left;
      for (int k = 0; k < 3; ++k) spawn(left, work);
      nopal::parallel_invoke(work, work);
      nopal::scope s;
      s.fork(work);
      s.fork([&] { nopal::sync_wait(as_task, t, times); });
      s.join();
      wait_for(left);
    });
    f.get();
    for (auto& o : outside) o.join();
    EXPECT_EQ(t.n, 10 * times);
  });
}

TEST(mutex_test, may_be_held_while_forking) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (long k = 0; k < test::scaled(200); ++k) {
        nopal::mutex m;
        int in = 0;
        nopal::scope s;
        {
          std::lock_guard const guard{m};
          for (int c = 0; c < 3; ++c) {
            s.fork([&] {
              std::lock_guard const inner{m};
              ++in;
            });
          }
          nopal::parallel_invoke([] { nopal::yield(); }, [] { nopal::yield(); });
          EXPECT_EQ(in, 0);
        }
        s.join();
        EXPECT_EQ(in, 3);
      }
    });
  });
}

TEST(mutex_test, without_stealing) {
  nopal::pool pool{{.workers = 3, .steal = false}};
  tally t;
  std::vector<nopal::future<void>> all;
  for (int k = 0; k < 20; ++k) {
    all.push_back(pool.submit([&t, k] {
      for (long i = 0; i < test::scaled(200); ++i) t.once((k + i) % 8 == 0);
    }));
  }
  for (auto& f : all) f.get();
  EXPECT_EQ(t.n, 20 * test::scaled(200));
  EXPECT_EQ(pool.stats().steals, 0u);
}

TEST(mutex_test, waiters_come_in_order) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    nopal::mutex m;
    counter left;
    std::unique_lock lock{m};
    int begun = 0;
    for (char const c : {'a', 'b', 'c', 'd', 'e'}) {
      int const before = begun;
      spawn(left, [&, c] {
        ++begun;
        std::lock_guard const guard{m};
        order += c;
      });
      while (begun == before) nopal::yield();
    }
    lock.unlock();
    wait_for(left);
  });
  EXPECT_EQ(order, "abcde");
}

// The hog has the lock whenever the other is woken and tries.
TEST(mutex_test, nobody_starves) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    nopal::mutex m;
    counter left;
    bool begun = false;
    bool served = false;
    int rounds = 0;
    std::unique_lock lock{m};
    spawn(left, [&] {
      begun = true;
      std::lock_guard const guard{m};
      served = true;
    });
    while (!begun) nopal::yield();  // it waits now: there is no other worker
    for (; !served && rounds < 1000; ++rounds) {
      lock.unlock();
      lock.lock();
      nopal::yield();
    }
    lock.unlock();
    wait_for(left);
    EXPECT_EQ(rounds, 3);  // woken twice in vain, then the mutex is its own
  });
}

// A wait releases the worker: one is enough for both.
TEST(mutex_test, the_owner_may_sleep) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    nopal::mutex m;
    counter left;
    long in = 0;
    for (int k = 0; k < 5; ++k) {
      spawn(left, [&] {
        std::lock_guard const guard{m};
        nopal::sleep_for(1ms);
        ++in;
      });
    }
    wait_for(left);
    EXPECT_EQ(in, 5);
  });
}

// A mutex may be destroyed as soon as a waiter has unlocked it: the thread that woke the waiter does not access it any more.
TEST(mutex_test, the_last_owner_may_destroy_it) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (long k = 0; k < test::scaled(1000); ++k) {
        auto m = std::make_unique<nopal::mutex>();
        counter left;
        int users = 2;
        auto const use = [&] {
          m->lock();
          bool const last = --users == 0;
          m->unlock();
          if (last) m.reset();
        };
        spawn(left, use);
        spawn(left, use);
        wait_for(left);
        EXPECT_EQ(m, nullptr);
      }
    });
  });
}

TEST(mutex_test, locking_twice_throws) {
  auto const twice = [] {
    nopal::mutex m;
    std::unique_lock first{m};
    try {
      m.lock();
      ADD_FAILURE() << "locked twice";
    } catch (std::system_error const& e) {
      EXPECT_EQ(e.code(), std::errc::resource_deadlock_would_occur);
      EXPECT_NE(std::string{e.what()}.find("nopal: a mutex was locked by the fiber, task or thread that has locked it already"),
                std::string::npos)
          << e.what();
    }
    first.unlock();
    first.lock();
  };
  twice();
  std::thread{twice}.join();
  nopal::pool pool{{.workers = 2}};
  pool.run(twice);
  pool.run(
      [](auto f) -> task<void> {
        f();
        co_return;
      },
      twice);
  counter left;
  spawn(left, twice);
  wait_for(left);
}

TEST(mutex_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::mutex m;
        m.unlock();
      },
      "nopal: a mutex was unlocked that is not locked");
  EXPECT_DEATH(
      {
        nopal::mutex m;
        m.lock();
        std::thread{[&] { m.unlock(); }}.join();
      },
      "nopal: a mutex was unlocked by another fiber, task or thread than the one that has locked it");
  EXPECT_DEATH(
      {
        nopal::mutex m;
        m.lock();
      },
      "nopal: a mutex was destroyed while it is locked");
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run([] {
          std::optional<nopal::mutex> m{std::in_place};
          m->lock();
          bool begun = false;
          spawn([&] {
            begun = true;
            m->lock();
          });
          while (!begun) nopal::yield();
          m.reset();
        });
      },
      "nopal: a mutex was destroyed while a fiber, task or thread waits for it");
}

}  // namespace
