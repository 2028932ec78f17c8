// Permits: as many as were given, to the first that ask.

#include "nopal/semaphore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::semaphore;
using nopal::spawn;
using nopal::task;
using nopal::wait_for;
using test::on_some_pools;

TEST(semaphore_test, counts) {
  semaphore s{2};
  EXPECT_TRUE(s.try_acquire());
  s.acquire();
  EXPECT_FALSE(s.try_acquire());
  s.release(3);
  s.release(0);
  EXPECT_TRUE(s.try_acquire_for(0ms));
  s.acquire();
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());
}

TEST(semaphore_test, no_more_than_it_permits) {
  on_some_pools([](nopal::pool& pool) {
    semaphore s{3};
    std::atomic<int> inside{0}, most{0}, ended{0};
    long const times = test::scaled(100);
    auto const use = [&] {
      for (long k = 0; k < times; ++k) {
        s.acquire();
        int const now = ++inside;
        EXPECT_LE(now, 3);
        for (int m = most; now > m && !most.compare_exchange_weak(m, now);) {
        }
        nopal::yield();
        --inside;
        s.release();
      }
      ++ended;
    };
    auto const as_task = [](auto f) -> task<void> {
      co_await nopal::fork([]() -> task<void> { co_return; });
      f();
      co_await nopal::join;
    };
    std::thread outside{use};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 10; ++k) spawn(left, use);
      nopal::parallel_invoke(use, [&] { nopal::sync_wait(as_task, use); });
      wait_for(left);
    });
    outside.join();
    EXPECT_EQ(ended, 13);
    EXPECT_GE(most, 1);
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
  });
}

TEST(semaphore_test, first_come_first_served) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    semaphore s{0};
    counter left;
    int begun = 0;
    for (char const c : {'a', 'b', 'c', 'd'}) {
      int const before = begun;
      spawn(left, [&, c] {
        ++begun;
        s.acquire();
        order += c;
      });
      while (begun == before) nopal::yield();
    }
    for (int k = 3; k >= 0; --k) {
      s.release();
      EXPECT_FALSE(s.try_acquire());  // it is not ours
      wait_for(left, k);
    }
  });
  EXPECT_EQ(order, "abcd");
}

TEST(semaphore_test, release_wakes_as_many_as_it_permits) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      semaphore s{0};
      counter left;
      for (int k = 0; k < 10; ++k) spawn(left, [&] { s.acquire(); });
      nopal::sleep_for(1ms);
      s.release(4);
      wait_for(left, 6);
      EXPECT_EQ(left.load(), 6);
      EXPECT_FALSE(s.try_acquire());
      s.release(8);
      wait_for(left);
      EXPECT_TRUE(s.try_acquire());
      EXPECT_TRUE(s.try_acquire());
      EXPECT_FALSE(s.try_acquire());
    });
  });
}

TEST(semaphore_test, waits_with_a_time_limit) {
  on_some_pools([](nopal::pool& pool) {
    auto const waits = [] {
      using steady = std::chrono::steady_clock;
      semaphore s{0};
      auto const begin = steady::now();
      EXPECT_FALSE(s.try_acquire_for(2ms));
      EXPECT_GE(steady::now() - begin, 2ms);
      EXPECT_FALSE(s.try_acquire_until(begin));
      EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now() + 2ms));
      counter left;
      auto const give = [&] {
        spawn(left, [&] {
          nopal::sleep_for(1ms);
          s.release();
        });
      };
      give();
      EXPECT_TRUE(s.try_acquire_for(10s));
      give();
      EXPECT_TRUE(s.try_acquire_until(std::chrono::system_clock::now() + 10s));
      give();
      EXPECT_TRUE(s.try_acquire_for(std::chrono::hours::max()));
      wait_for(left);
      EXPECT_FALSE(s.try_acquire());
    };
    pool.run(waits);
    waits();
  });
}

// A waiter gets a permit, or the permit stays: also if the waiter times out at that moment.
TEST(semaphore_test, none_is_lost_to_a_time_limit) {
  on_some_pools([](nopal::pool& pool) {
    std::atomic<long> taken{0};
    long const given = test::scaled(300);
    semaphore s{0};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 8; ++k) {
        spawn(left, [&, k] {
          for (long i = 0; i < given; ++i) taken += s.try_acquire_for(((i + k) % 5) * 10us) ? 1 : 0;
        });
      }
      for (long i = 0; i < given; ++i) {
        s.release();
        if (i % 4 == 0) nopal::sleep_for(10us);
      }
      wait_for(left);
    });
    while (s.try_acquire()) ++taken;
    EXPECT_EQ(taken, given);
  });
}

TEST(semaphore_test, who_has_acquired_may_destroy_it) {
  on_some_pools([](nopal::pool& pool) {
    for (long k = 0; k < test::scaled(1000); ++k) {
      auto s = std::make_unique<semaphore>(0);
      semaphore& there = *s;
      pool.detach([&there] { there.release(); });
      s->acquire();
    }
  });
}

// The waker is still in the pool's parking when the woken thread, and with it the pool, has ended.
TEST(semaphore_test, a_thread_wakes_the_last_that_a_pool_has_to_do) {
  std::atomic<semaphore*> now{nullptr};
  std::atomic<bool> ends{false};
  std::thread outside{[&] {
    while (!ends) {
      if (semaphore* const s = now.exchange(nullptr)) s->release();
    }
  }};
  for (long k = 0; k < test::scaled(300, 3); ++k) {
    semaphore s{0};
    nopal::pool pool{{.workers = 2}};
    pool.run([&] {
      now = &s;
      s.acquire();
    });
  }
  ends = true;
  outside.join();
}

TEST(semaphore_test, wrong_numbers_throw) {
  EXPECT_THROW(semaphore{-1}, std::invalid_argument);
  semaphore s{semaphore::max()};
  EXPECT_THROW(s.release(-1), std::invalid_argument);
  EXPECT_THROW(s.release(), std::overflow_error);
  s.acquire();
  s.release();
  try {
    s.release(5);
    ADD_FAILURE();
  } catch (std::overflow_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("nopal: semaphore::release(5)"), std::string::npos) << e.what();
  }
}

TEST(semaphore_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run([] {
          std::optional<semaphore> s{0};
          bool begun = false;
          spawn([&] {
            begun = true;
            s->acquire();
          });
          while (!begun) nopal::yield();
          s.reset();
        });
      },
      "nopal: a semaphore was destroyed while a fiber, task or thread waits for it");
}

}  // namespace
