// Waits and wake-ups on shared counters, by the million: none may be lost.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "../mix.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::spawn;
using nopal::wait_for;
using test::mix;

class fiber_stress : public testing::TestWithParam<unsigned> {};

/// Two fibers take turns on two counters, so that each wait may just miss its wake-up. NOPAL_TEST_WAITS sets how many, 10^7 by default.
TEST_P(fiber_stress, pairs_take_turns) {
  char const* const wanted = std::getenv("NOPAL_TEST_WAITS");
  long const waits = wanted != nullptr ? std::atol(wanted) : test::scaled(10'000'000, 200);
  constexpr long pairs = 16;
  long const rounds = waits / (2 * pairs);
  nopal::pool pool{{.workers = GetParam()}};
  struct pair {
    counter a, b;
    long turns = 0;
    explicit pair(long n) : a{n}, b{n} {}
  };
  pool.run([&] {
    std::vector<std::unique_ptr<pair>> all;
    for (long k = 0; k < pairs; ++k) all.push_back(std::make_unique<pair>(rounds));
    counter left;
    for (auto const& p : all) {
      spawn(left, [&p = *p, rounds] {
        for (long r = 1; r <= rounds; ++r) {
          ++p.turns;
          p.a.done();
          wait_for(p.b, rounds - r);
        }
      });
      spawn(left, [&p = *p, rounds] {
        for (long r = 1; r <= rounds; ++r) {
          wait_for(p.a, rounds - r);
          ++p.turns;
          p.b.done();
        }
      });
    }
    wait_for(left);
    for (auto const& p : all) EXPECT_EQ(p->turns, 2 * rounds);
  });
}

/// Many wait for different values of one counter, which many count down; each counter is destroyed as soon as its last waiter may do so.
TEST_P(fiber_stress, counters_die_as_soon_as_they_may) {
  nopal::pool pool{{.workers = GetParam()}};
  std::atomic<long> woken{0};
  long const rounds = test::scaled(2'000);
  pool.run([&] {
    for (long k = 0; k < rounds; ++k) {
      counter ended;
      auto c = std::make_unique<counter>(8);
      for (int d = 0; d < 4; ++d) spawn(ended, [&c = *c] { c.done(); });
      for (int w = 1; w <= 3; ++w) {
        spawn(ended, [&c = *c, &woken, w] {
          wait_for(c, w);
          ++woken;
        });
      }
      spawn(ended, [&c = *c] {
        for (int d = 0; d < 4; ++d) c.done();
      });
      wait_for(ended);
      wait_for(*c);
      c.reset();
      // And one that its only waiter destroys while the last done may still be at it.
      auto* const last = new counter{1};
      spawn([last] { last->done(); });
      wait_for(*last);
      delete last;
    }
  });
  EXPECT_EQ(woken, 3 * rounds);
}

/// A time limit and the last `done` happen at the same moment.
TEST_P(fiber_stress, time_limits_race_with_what_they_limit) {
  nopal::pool pool{{.workers = GetParam()}};
  std::atomic<long> in_time{0}, late{0};
  pool.run([&] {
    counter left;
    for (std::uint64_t f = 0; f < 8; ++f) {
      spawn(left, [&, f] {
        for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(test::scaled(400)); ++k) {
          counter c{1};
          spawn([&c, wait = mix(f * 1000 + k) % 40] {
            auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds{60 + wait};
            while (std::chrono::steady_clock::now() < until) nopal::yield();
            c.done();
          });
          if (wait_for(c, 0, std::chrono::microseconds{mix(f + k) % 120})) {
            ++in_time;
          } else {
            ++late;
            wait_for(c);
          }
        }
      });
    }
    wait_for(left);
  });
  EXPECT_EQ(in_time + late, 8 * test::scaled(400));
}

/// Every kind of waiter waits for every kind of object.
std::uint64_t work(std::uint64_t node, int depth);
nopal::task<std::uint64_t> work_as_task(std::uint64_t node, int depth) {
  if (depth == 0) co_return node;
  std::uint64_t a = 0, b = 0;
  counter c;
  spawn(c, [&] { a = work(mix(node), depth - 1); });
  co_await nopal::fork(&b, work_as_task, mix(node + 1), depth - 1);
  co_await c.reaches(0);
  co_await nopal::join;
  co_return mix(a + 3 * b);
}
std::uint64_t work(std::uint64_t node, int depth) {
  if (depth == 0) return node;
  std::uint64_t a = 0, b = 0;
  auto const first = [&] { a = work(mix(node), depth - 1); };
  auto const second = [&] { b = nopal::sync_wait(work_as_task, mix(node + 1), depth - 1); };
  switch (node % 4) {
    case 0: {
      counter c;
      spawn(c, first);
      spawn(c, second);
      wait_for(c);
      break;
    }
    case 1: {
      nopal::scope s;
      s.fork(first);
      s.fork(second);
      s.join();
      break;
    }
    case 2: nopal::parallel_invoke(first, second); break;
    default: {
      counter c;
      spawn(c, second);
      first();
      nopal::yield();
      wait_for(c);
    }
  }
  return mix(a + 3 * b);
}
std::uint64_t serial(std::uint64_t node, int depth) {
  return depth == 0 ? node : mix(serial(mix(node), depth - 1) + 3 * serial(mix(node + 1), depth - 1));
}

TEST_P(fiber_stress, all_front_ends_wait_for_each_other) {
  nopal::pool pool{{.workers = GetParam()}};
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(3'000, 30)); ++seed) {
    int const depth = 2 + static_cast<int>(seed % 6);
    ASSERT_EQ(pool.run(work, mix(seed), depth), serial(mix(seed), depth)) << seed;
    ASSERT_EQ(pool.run(work_as_task, mix(seed), depth), serial(mix(seed), depth)) << seed;
  }
}

/// Foreign threads and fibers wake each other.
TEST_P(fiber_stress, threads_and_fibers) {
  nopal::pool pool{{.workers = GetParam()}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < test::scaled(1'000); ++k) {
        counter to{1}, back{1};
        pool.detach([&] {
          wait_for(to);
          back.done();
        });
        to.done();
        wait_for(back);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

INSTANTIATE_TEST_SUITE_P(workers, fiber_stress, testing::Values(1u, 2u, 8u), testing::PrintToStringParamName());

}  // namespace
