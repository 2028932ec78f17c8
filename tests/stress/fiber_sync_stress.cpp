// Many fibers, critical sections of a few instructions, and every kind of waiter at once: a lost wake-up would hang the test, two owners
// would make the sums wrong.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../mix.hpp"
#include "../on_pools.hpp"
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
using test::on_some_pools;

TEST(fiber_sync_stress, short_critical_sections) {
  on_some_pools([](nopal::pool& pool) {
    constexpr std::size_t locks = 4;
    struct {
      nopal::mutex m;
      long n = 0;
    } cells[locks];
    long const times = test::scaled(60, 6), fibers = test::scaled(300, 6);
    auto const work = [&](std::uint64_t seed) {
      for (long k = 0; k < times; ++k) {
        seed = mix(seed + 1);
        auto& cell = cells[seed % locks];
        auto& other = cells[(seed / locks) % locks];
        if (seed % 61 == 0 && &cell != &other) {
          std::scoped_lock const both{cell.m, other.m};
          nopal::yield();
          ++cell.n;
        } else if (seed % 7 == 0) {
          while (!cell.m.try_lock()) nopal::yield();
          ++cell.n;
          cell.m.unlock();
        } else {
          std::lock_guard const guard{cell.m};
          ++cell.n;
          if (seed % 31 == 0) nopal::yield();
        }
      }
    };
    std::vector<std::thread> outside;
    for (std::uint64_t k = 0; k < 2; ++k) outside.emplace_back([&, k] { work(k); });
    pool.run([&] {
      counter left;
      for (long k = 0; k < fibers; ++k) spawn(left, [&, k] { work(static_cast<std::uint64_t>(k + 2)); });
      wait_for(left);
    });
    for (auto& o : outside) o.join();
    long sum = 0;
    for (auto const& c : cells) sum += c.n;
    EXPECT_EQ(sum, (fibers + 2) * times);
  });
}

// Fibers pass a token around: at any time only one can continue, so a lost wake-up would hang the test.
TEST(fiber_sync_stress, a_ring_of_condition_variables) {
  on_some_pools([](nopal::pool& pool) {
    constexpr long n = 30;
    long const rounds = test::scaled(60);
    nopal::mutex m;
    nopal::condition_variable mine[n];
    long turn = 0;
    auto const member = [&](long k) {
      auto const is_turn = [&] { return turn % n == k; };
      for (long r = 0; r < rounds; ++r) {
        std::unique_lock lock{m};
        if ((r + k) % 3 == 0) {
          while (!mine[k].wait_for(lock, 20us, is_turn)) {
          }
        } else {
          mine[k].wait(lock, is_turn);
        }
        ++turn;
        if (r % 2 == 0) lock.unlock();
        mine[(k + 1) % n].notify_one();
      }
    };
    std::thread outside{[&] { member(0); }};
    pool.run([&] {
      counter left;
      for (long k = 1; k < n; ++k) spawn(left, [&, k] { member(k); });
      wait_for(left);
    });
    outside.join();
    EXPECT_EQ(turn, n * rounds);
  });
}

TEST(fiber_sync_stress, a_barrier_of_semaphores) {
  on_some_pools([](nopal::pool& pool) {
    constexpr int n = 20;
    long const rounds = test::scaled(200);
    nopal::semaphore arrived{0}, go[] = {nopal::semaphore{0}, nopal::semaphore{0}};  // in turn: no fiber passes twice
    std::atomic<long> passed{0};
    auto const member = [&](int k) {
      for (long r = 0; r < rounds; ++r) {
        arrived.release();
        if (k % 4 == 0) {
          while (!go[r % 2].try_acquire_for(10us)) {
          }
        } else {
          go[r % 2].acquire();
        }
        ++passed;
      }
    };
    std::thread outside{[&] { member(0); }};
    pool.run([&] {
      counter left;
      for (int k = 1; k < n; ++k) spawn(left, [&, k] { member(k); });
      for (long r = 0; r < rounds; ++r) {
        for (int k = 0; k < n; ++k) arrived.acquire();
        EXPECT_LE(passed, r * n);
        go[r % 2].release(n);
      }
      wait_for(left);
    });
    outside.join();
    EXPECT_EQ(passed, n * rounds);
    EXPECT_FALSE(go[0].try_acquire());
    EXPECT_FALSE(go[1].try_acquire());
    EXPECT_FALSE(arrived.try_acquire());
  });
}

TEST(fiber_sync_stress, pipelines_of_channels) {
  on_some_pools([](nopal::pool& pool) {
    constexpr std::size_t stages = 8;
    long const n = test::scaled(1000);
    std::vector<std::unique_ptr<nopal::channel<long>>> between;
    for (std::size_t k = 0; k <= stages; ++k) between.push_back(std::make_unique<nopal::channel<long>>(k % 3 + 1));
    std::atomic<long> sum{0};
    pool.run([&] {
      counter left;
      for (std::size_t k = 0; k < stages; ++k) {
        spawn(left, [&, k] {
          counter both;
          for (int twice = 0; twice < 2; ++twice) {
            spawn(both, [&, k] {
              while (auto const v = between[k]->pop()) between[k + 1]->push(*v + 1);
            });
          }
          wait_for(both);
          between[k + 1]->close();
        });
      }
      spawn(left, [&] {
        while (auto const v = between[stages]->pop()) sum += *v;
      });
      for (long k = 0; k < n; ++k) between[0]->push(k);
      between[0]->close();
      wait_for(left);
    });
    EXPECT_EQ(sum, n * (n - 1) / 2 + n * static_cast<long>(stages));
  });
}

// The channel closes at any moment: what was pushed is popped, and all fibers end.
TEST(fiber_sync_stress, closing_at_any_moment) {
  on_some_pools([](nopal::pool& pool) {
    for (long round = 0; round < test::scaled(40, 8); ++round) {
      nopal::channel<long> ch{2};
      std::atomic<long> pushed{0}, popped{0};
      pool.run([&] {
        counter left;
        for (int k = 0; k < 4; ++k) {
          spawn(left, [&] {
            while (ch.push(1)) ++pushed;
          });
          spawn(left, [&] {
            while (ch.pop()) ++popped;
          });
        }
        nopal::sleep_for(round * 3us);
        ch.close();
        wait_for(left);
      });
      EXPECT_EQ(pushed, popped);
    }
  });
}

}  // namespace
