// Notifications: none is lost, none is spurious.

#include "nopal/condition_variable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
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

TEST(condition_variable_test, anyone_may_wait) {
  on_some_pools([](nopal::pool& pool) {
    nopal::mutex m;
    nopal::condition_variable changed;
    bool go = false;
    std::atomic<int> gone{0};
    auto const wait = [&] {
      std::unique_lock lock{m};
      changed.wait(lock, [&] { return go; });
      EXPECT_TRUE(lock.owns_lock());
      EXPECT_FALSE(m.try_lock());
      ++gone;
    };
    auto const in_a_task = [](auto f) -> task<void> {
      co_await nopal::fork([]() -> task<void> { co_return; });
      f();
      co_await nopal::join;
    };
    std::thread outside{wait};
    auto t = pool.submit(in_a_task, wait);
    auto n = pool.submit([&] { nopal::parallel_invoke(wait, wait); });
    counter left;
    for (int k = 0; k < 10; ++k) spawn(left, wait);
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(gone, 0);
    {
      std::lock_guard const guard{m};
      go = true;
    }
    changed.notify_all();
    wait_for(left);
    t.get();
    n.get();
    outside.join();
    EXPECT_EQ(gone, 14);
  });
}

// Each notification is sent after a waiter has released the mutex: if one was lost, this would not end.
TEST(condition_variable_test, ping_pong) {
  on_some_pools([](nopal::pool& pool) {
    nopal::mutex m;
    nopal::condition_variable changed;
    long turn = 0;
    long const rounds = test::scaled(2000);
    auto const play = [&](long mine) {
      std::unique_lock lock{m};
      for (long k = 0; k < rounds; ++k) {
        while (turn % 2 != mine) changed.wait(lock);
        ++turn;
        changed.notify_one();
      }
    };
    pool.run([&] { nopal::parallel_invoke([&] { play(0); }, [&] { play(1); }); });
    EXPECT_EQ(turn, 2 * rounds);
    std::thread outside{[&] { play(0); }};
    counter left;
    spawn(left, [&] { play(1); });
    wait_for(left);
    outside.join();
    EXPECT_EQ(turn, 4 * rounds);
  });
}

TEST(condition_variable_test, producers_and_consumers) {
  on_some_pools([](nopal::pool& pool) {
    nopal::mutex m;
    nopal::condition_variable not_empty, not_full;
    std::deque<long> queue;
    long const each = test::scaled(1000);
    std::atomic<long> sum{0};
    auto const produce = [&] {
      for (long k = 1; k <= each; ++k) {
        std::unique_lock lock{m};
        not_full.wait(lock, [&] { return queue.size() < 4; });
        queue.push_back(k);
        lock.unlock();
        not_empty.notify_one();
      }
    };
    auto const consume = [&] {
      for (long k = 1; k <= each; ++k) {
        std::unique_lock lock{m};
        not_empty.wait(lock, [&] { return !queue.empty(); });
        sum += queue.front();
        queue.pop_front();
        lock.unlock();
        not_full.notify_one();
      }
    };
    std::thread one{produce}, two{consume};
    pool.run([&] {
      counter left;
      for (int k = 0; k < 4; ++k) {
        spawn(left, produce);
        spawn(left, consume);
      }
      wait_for(left);
    });
    one.join();
    two.join();
    EXPECT_EQ(sum, 5 * each * (each + 1) / 2);
  });
}

TEST(condition_variable_test, one_is_woken_by_one) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    nopal::mutex m;
    nopal::condition_variable changed;
    counter left;
    int waiting = 0;
    for (char const c : {'a', 'b', 'c'}) {
      int const before = waiting;
      spawn(left, [&, c] {
        std::unique_lock lock{m};
        ++waiting;
        changed.wait(lock);
        order += c;
      });
      while (waiting == before) nopal::yield();
    }
    changed.notify_one();
    wait_for(left, 2);
    EXPECT_EQ(order, "a");
    changed.notify_one();
    wait_for(left, 1);
    EXPECT_EQ(order, "ab");
    changed.notify_all();
    wait_for(left);
    changed.notify_all();
    EXPECT_EQ(order, "abc");
  });
}

TEST(condition_variable_test, waits_with_a_time_limit) {
  on_some_pools([](nopal::pool& pool) {
    auto const waits = [] {
      using steady = std::chrono::steady_clock;
      nopal::mutex m;
      nopal::condition_variable changed;
      std::unique_lock lock{m};
      auto const begin = steady::now();
      EXPECT_EQ(changed.wait_for(lock, 2ms), std::cv_status::timeout);
      EXPECT_GE(steady::now() - begin, 2ms);
      EXPECT_TRUE(lock.owns_lock());
      EXPECT_FALSE(m.try_lock());
      EXPECT_EQ(changed.wait_until(lock, begin), std::cv_status::timeout);
      EXPECT_EQ(changed.wait_until(lock, std::chrono::system_clock::now() + 2ms), std::cv_status::timeout);
      EXPECT_FALSE(changed.wait_for(lock, 1ms, [] { return false; }));
      EXPECT_TRUE(changed.wait_for(lock, -1ms, [] { return true; }));
      EXPECT_FALSE(changed.wait_until(lock, begin, [] { return false; }));

      bool ready = false;
      counter left;
      auto const notify = [&] {
        spawn(left, [&] {
          nopal::sleep_for(1ms);
          std::lock_guard const guard{m};
          ready = true;
          changed.notify_one();
        });
      };
      notify();
      EXPECT_TRUE(changed.wait_for(lock, 10s, [&] { return ready; }));
      ready = false;
      notify();
      while (!ready) {
        EXPECT_EQ(changed.wait_for(lock, std::chrono::hours::max()), std::cv_status::no_timeout);
      }
      ready = false;
      notify();
      EXPECT_TRUE(changed.wait_until(lock, std::chrono::system_clock::now() + 10s, [&] { return ready; }));
      lock.unlock();
      wait_for(left);
    };
    pool.run(waits);
    waits();
  });
}

// If a waiter times out at the moment of a notification, the next waiter gets it.
TEST(condition_variable_test, none_is_lost_to_a_time_limit) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (long k = 0; k < test::scaled(200); ++k) {
        nopal::mutex m;
        nopal::condition_variable changed;
        counter left;
        int tickets = 0, notified = 0;
        bool waits = false;
        for (int i = 0; i < 3; ++i) {
          spawn(left, [&, i] {
            std::unique_lock lock{m};
            if (changed.wait_for(lock, (i + 1) * 20us) == std::cv_status::no_timeout) ++notified;
          });
        }
        spawn(left, [&] {
          std::unique_lock lock{m};
          waits = true;
          changed.wait(lock, [&] { return tickets > 0; });
        });
        for (bool ready = false; !ready; nopal::yield()) {
          std::lock_guard const guard{m};
          ready = waits;
        }
        nopal::sleep_for((k % 8) * 10us);
        {
          std::lock_guard const guard{m};
          tickets = 1;
        }
        for (int i = 0; i < 4; ++i) changed.notify_one();
        wait_for(left);
        EXPECT_LE(notified, 3);
      }
    });
  });
}

// Once all are notified the object may be destroyed, though they have not returned yet.
TEST(condition_variable_test, may_be_destroyed_once_all_are_notified) {
  on_some_pools([](nopal::pool& pool) {
    pool.run([] {
      for (long k = 0; k < test::scaled(200); ++k) {
        nopal::mutex m;
        auto changed = std::make_unique<nopal::condition_variable>();
        counter left;
        int waiting = 0;
        for (int i = 0; i < 4; ++i) {
          spawn(left, [&, i] {
            std::unique_lock lock{m};
            nopal::condition_variable& c = *changed;
            ++waiting;
            if (i % 2 == 0) {
              c.wait(lock);
            } else {
              static_cast<void>(c.wait_for(lock, i * 50us));
            }
          });
        }
        for (;; nopal::yield()) {
          std::lock_guard const guard{m};
          if (waiting < 4) continue;
          changed->notify_all();
          changed.reset();
          break;
        }
        wait_for(left);
      }
    });
  });
}

TEST(condition_variable_test, without_the_mutex_it_throws) {
  nopal::mutex m;
  nopal::condition_variable changed;
  std::unique_lock lock{m, std::defer_lock};
  EXPECT_THROW(changed.wait(lock), std::system_error);
  EXPECT_THROW(static_cast<void>(changed.wait_for(lock, 1ms)), std::system_error);
}

TEST(condition_variable_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        pool.run([] {
          nopal::mutex m;
          std::optional<nopal::condition_variable> changed{std::in_place};
          bool begun = false;
          spawn([&] {
            std::unique_lock lock{m};
            begun = true;
            changed->wait(lock);
          });
          while (!begun) nopal::yield();
          changed.reset();
        });
      },
      "nopal: a condition_variable was destroyed while a fiber, task or thread waits for it");
}

}  // namespace
