// A request against the end of a wait: each wait ends once, by one of the two, and what was handed over is not lost.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <thread>

#include "../scale.hpp"
#include "nopal/channel.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stop.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::stopped;

long const rounds = test::scaled(200'000, 20);

struct ends {
  std::atomic<long> woken{0};
  std::atomic<long> stopped{0};
};

/// In each round, three fibers: one waits in a region, one requests it, one ends the wait. wait(k) returns whether the wait has ended by
/// the latter.
template <class Wait, class Happen>
void race(Wait wait, Happen happen, ends& e) {
  nopal::pool pool{{.workers = 3}};
  pool.run([&] {
    for (long k = 0; k < rounds; ++k) {
      std::stop_source source;
      nopal::counter left;
      auto const request = [&] { nopal::spawn(left, [&] { source.request_stop(); }); };
      auto const make = [&] { nopal::spawn(left, [&] { happen(k); }); };
      if (k % 2 == 0) request();
      if (k % 3 == 0) make();
      nopal::with_stop(source.get_token(), [&] {
        nopal::spawn(left, [&] {
          try {
            wait(k);
            ++e.woken;
          } catch (stopped const&) {
            ++e.stopped;
          }
        });
      });
      if (k % 3 != 0) make();
      if (k % 2 != 0) request();
      if (k % 5 == 0) nopal::yield();
      nopal::wait_for(left);
    }
  });
  EXPECT_EQ(e.woken + e.stopped, rounds);
  std::printf("%ld ended by what they waited for, %ld by the request\n", e.woken.load(), e.stopped.load());
}

TEST(races, a_counter) {
  ends e;
  nopal::counter c;
  race(
      [&](long k) {
        nopal::wait_for(c, -k - 1);
        EXPECT_LE(c.load(), -k - 1);
      },
      [&](long) { c.done(); }, e);
}

TEST(races, a_channel_loses_no_value) {
  ends e;
  nopal::channel<long> ch{1};
  std::atomic<long> popped{0};
  race(
      [&](long) {
        static_cast<void>(ch.pop().value());
        ++popped;
      },
      [&](long k) {
        if (!ch.try_push(k)) {  // the last one was not popped, since that pop was stopped
          if (ch.try_pop()) ++popped;
          EXPECT_TRUE(ch.try_push(k));
        }
      },
      e);
  while (ch.try_pop()) ++popped;
  EXPECT_EQ(popped, rounds) << "each value came out once";
}

TEST(races, a_channel_with_room_again) {
  ends e;
  nopal::channel<long> ch{1};
  ch.push(-1);
  std::atomic<long> pushed{1};
  std::atomic<long> popped{0};
  race(
      [&](long k) {
        EXPECT_TRUE(ch.push(k));
        ++pushed;
      },
      [&](long) {
        if (ch.try_pop()) ++popped;
      },
      e);
  while (ch.try_pop()) ++popped;
  EXPECT_EQ(popped, pushed);
}

TEST(races, a_permit) {
  ends e;
  nopal::semaphore s{0};
  std::atomic<long> acquired{0};
  race(
      [&](long) {
        EXPECT_TRUE(s.try_acquire_for(1h));
        ++acquired;
      },
      [&](long) {
        if (s.try_acquire()) ++acquired;  // the last one was not taken, since that wait was stopped
        s.release();
      },
      e);
  while (s.try_acquire()) ++acquired;
  EXPECT_EQ(acquired, rounds);
}

TEST(races, a_future) {
  nopal::pool pool{{.workers = 3}};
  ends e;
  pool.run([&] {
    for (long k = 0; k < rounds; ++k) {
      std::stop_source source;
      nopal::counter left;
      auto f = pool.submit([k] { return k; });
      nopal::with_stop(source.get_token(), [&] {
        nopal::spawn(left, [&] {
          try {
            EXPECT_EQ(f.get(), k);
            ++e.woken;
          } catch (stopped const&) {
            ++e.stopped;
          }
        });
      });
      nopal::spawn(left, [&] { source.request_stop(); });
      nopal::wait_for(left);
    }
  });
  EXPECT_EQ(e.woken + e.stopped, rounds);
}

// The timer, too, tries to wake the waiter.
TEST(races, three_ways) {
  ends e;
  nopal::semaphore s{0};
  std::atomic<long> acquired{0};
  race(
      [&](long k) {
        if (s.try_acquire_for(std::chrono::microseconds{k % 8})) ++acquired;
      },
      [&](long) {
        if (s.try_acquire()) ++acquired;
        s.release();
      },
      e);
  while (s.try_acquire()) ++acquired;
  EXPECT_EQ(acquired, rounds);
}

// A request from a thread off all pools, and waiters on such threads.
TEST(races, of_threads) {
  nopal::semaphore s{0};
  long acquired = 0;
  long const n = test::scaled(20'000, 20);
  for (long k = 0; k < n; ++k) {
    std::stop_source source;
    std::thread requester{[&] { source.request_stop(); }};
    if (k % 2 == 0) s.release();
    try {
      nopal::with_stop(source.get_token(), [&] {
        if (s.try_acquire_for(1h)) ++acquired;
      });
    } catch (stopped const&) {
    }
    requester.join();
  }
  while (s.try_acquire()) ++acquired;
  EXPECT_EQ(acquired, (n + 1) / 2);
}

// Regions begin and end while the ones around them get requests; all that wait in them are woken.
TEST(races, regions_that_end) {
  nopal::pool pool{{.workers = 3}};
  for (long k = 0; k < rounds / 20; ++k) {
    std::stop_source source;
    auto f = pool.submit(source.get_token(), [&] {
      nopal::counter left;
      std::atomic<int> asked{0};
      for (int i = 0; i < 3; ++i) {
        nopal::spawn(left, [&] {
          while (!nopal::stop_requested()) nopal::with_stop(std::stop_source{}.get_token(), [] { nopal::yield(); });
          nopal::with_stop(std::stop_source{}.get_token(), [&] { asked += nopal::stop_requested() ? 1 : 0; });
        });
      }
      nopal::without_stop([&] { nopal::wait_for(left); });
      EXPECT_EQ(asked, 3);
    });
    source.request_stop();
    f.get();
  }
}

// Of many that wait, each is woken.
TEST(races, all_of_many) {
  nopal::pool pool{{.workers = 3}};
  constexpr int many = 1000;
  for (long k = 0; k < test::scaled(200, 10); ++k) {
    std::stop_source source;
    nopal::counter never{1}, left;
    std::atomic<int> stops{0};
    nopal::with_stop(source.get_token(), [&] {
      for (int i = 0; i < many; ++i) {
        pool.spawn(left, [&] {
          try {
            nopal::wait_for(never);
          } catch (stopped const&) {
            ++stops;
          }
        });
      }
    });
    if (k % 2 != 0) std::this_thread::yield();
    source.request_stop();
    nopal::wait_for(left);
    EXPECT_EQ(stops, many);
    never.done();
  }
}

}  // namespace
