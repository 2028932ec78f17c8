// Many threads that work for no pool fork and join at once: a child that never begins would hang the test, one that begins twice would make
// the sums wrong.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "../mix.hpp"
#include "../numbered.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/scope.hpp"

namespace {

using nopal::scope;
using test::mix;
using test::numbered;

/// A tree of scopes in which some children wait for each other or throw: returns how many have run.
long tree(std::uint64_t seed, int depth) {
  std::atomic<long> ran{1};
  nopal::semaphore gate{0};
  scope s;
  int lowest = 0, waiting = 0;
  auto const children = static_cast<int>(mix(seed) % 5);
  for (int k = 0; k < children; ++k) {
    std::uint64_t const one = mix(seed + static_cast<std::uint64_t>(k) + 1);
    if (one % 11 == 0) {
      ++waiting;
      s.fork([&] {
        gate.acquire();  // released by a later child, or by us
        ++ran;
      });
    } else if (one % 13 == 0) {
      if (lowest == 0) lowest = k + 1;
      s.fork([&, k] {
        ++ran;
        throw numbered{k + 1};
      });
    } else if (depth > 0) {
      s.fork([&, one, depth] { ran += tree(one, depth - 1); });
    } else {
      s.fork([&] { ++ran; });
    }
    if (waiting != 0 && one % 3 == 0) {
      --waiting;
      s.fork([&] { gate.release(); });
    }
    if (one % 17 == 0) std::this_thread::sleep_for(std::chrono::microseconds{50});  // the carrier has time to end
    if (one % 19 == 0 && waiting == 0 && lowest == 0) s.join();
  }
  if (waiting != 0) gate.release(waiting);
  int thrown = 0;
  try {
    s.join();
  } catch (numbered const& e) {
    thrown = e.number;
  }
  return thrown == lowest ? ran.load() : -1'000'000;
}

/// The same, serially.
long expected(std::uint64_t seed, int depth) {
  long ran = 1;
  auto const children = static_cast<int>(mix(seed) % 5);
  for (int k = 0; k < children; ++k) {
    std::uint64_t const one = mix(seed + static_cast<std::uint64_t>(k) + 1);
    ran += one % 11 != 0 && one % 13 != 0 && depth > 0 ? expected(one, depth - 1) : 1;
  }
  return ran;
}

TEST(scope_off_pool_stress, trees_of_scopes) {
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (long k = 0; k < test::scaled(800); ++k) {
        std::uint64_t const seed = mix(t * 1'000'003 + static_cast<std::uint64_t>(k));
        int const depth = static_cast<int>(seed % 4);
        wrong += tree(seed, depth) != expected(seed, depth);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Forks and joins as fast as possible: the carrier arrives late, when the scope is gone, or just as it ends.
TEST(scope_off_pool_stress, small_scopes_in_a_loop) {
  std::atomic<long> ran{0};
  long const rounds = test::scaled(20'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (long k = 0; k < rounds; ++k) {
        scope s;
        for (long n = 0; n <= (k + t) % 3; ++n) s.fork([&] { ran.fetch_add(1, std::memory_order_relaxed); });
        if (k % 5 == 0) {
          s.join();
          s.fork([&] { ran.fetch_add(1, std::memory_order_relaxed); });
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  long forked = 0;
  for (long t = 0; t < 3; ++t) {
    for (long k = 0; k < rounds; ++k) forked += (k + t) % 3 + 1 + (k % 5 == 0);
  }
  EXPECT_EQ(ran, forked);
}

}  // namespace
