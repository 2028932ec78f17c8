// Random fork-join programs: trees of forks, calls, scratch memory and moves between workers, compared with their serial run.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>

#include "../mix.hpp"
#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

using test::mix;

/// What a node does, drawn from its name.
struct plan {
  plan(std::uint64_t node, int depth) : draw{mix(node)} {
    scopes = 1 + pick(3);
    children = depth == 0 ? 0 : pick(5);
    scratch = pick(4) == 0 ? 1 + pick(3000) : 0;
    moves = pick(40) == 0;
    yields = pick(20) == 0;
  }
  std::uint64_t pick(std::uint64_t n) {
    draw = mix(draw);
    return draw % n;
  }
  static std::uint64_t child(std::uint64_t node, std::uint64_t scope, std::uint64_t k) { return mix(node * 31 + scope * 7 + k); }
  static bool called(std::uint64_t child) { return child % 4 == 0; }

  std::uint64_t draw;
  std::uint64_t scopes, children, scratch;
  bool moves, yields;
};

std::uint64_t serial(std::uint64_t node, int depth) {
  plan const p{node, depth};
  std::uint64_t sum = node;
  for (std::uint64_t s = 0; s < p.scopes; ++s) {
    for (std::uint64_t k = 0; k < p.children; ++k) sum = mix(sum + serial(plan::child(node, s, k), depth - 1));
  }
  return sum;
}

struct site {
  nopal::pool* pool;
  bool moves;
};

task<std::uint64_t> parallel(site const& where, std::uint64_t node, int depth);

task<std::uint64_t> scope(site const& where, std::uint64_t node, int depth, std::uint64_t s, std::uint64_t sum) {
  plan const p{node, depth};
  auto const results = co_await nopal::stack_array<std::uint64_t>(p.children + 1);
  for (std::uint64_t k = 0; k < p.children; ++k) {
    std::uint64_t const child = plan::child(node, s, k);
    if (plan::called(child)) {
      co_await call(&results[k], parallel, where, child, depth - 1);
    } else {
      co_await fork(&results[k], parallel, where, child, depth - 1);
    }
  }
  co_await join;
  for (std::uint64_t k = 0; k < p.children; ++k) sum = mix(sum + results[k]);
  co_return sum;
}

task<std::uint64_t> parallel(site const& where, std::uint64_t node, int depth) {
  plan const p{node, depth};
  if (p.yields) std::this_thread::yield();
  if (p.moves && where.moves) co_await nopal::resume_on(where.pool->worker(static_cast<unsigned>(node % where.pool->workers())));
  std::uint64_t sum = node;
  std::uint64_t spoilt = 0;
  if (p.scratch != 0) {
    auto const guard = co_await nopal::stack_array<std::uint64_t>(p.scratch);
    for (std::uint64_t& g : guard) g = node;
    for (std::uint64_t s = 0; s < p.scopes; ++s) sum = co_await call(scope, where, node, depth, s, sum);
    for (std::uint64_t const g : guard) spoilt += g != node;
  } else {
    for (std::uint64_t s = 0; s < p.scopes; ++s) co_await call(&sum, scope, where, node, depth, s, sum);
  }
  co_return sum + spoilt;
}

class programs : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(programs, give_the_serial_result) {
  auto const [workers, moves] = GetParam();
  nopal::pool pool{{.workers = workers}};
  site const where{&pool, moves};
  for (long seed = 0; seed < test::scaled(300); ++seed) {
    std::uint64_t const root = mix(static_cast<std::uint64_t>(seed) * 977);
    int const depth = 3 + static_cast<int>(seed % 3);
    ASSERT_EQ(pool.run(parallel, where, root, depth), serial(root, depth)) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, programs, testing::Combine(testing::Values(1, 2, 3, 8), testing::Bool()), [](auto const& chosen) {
  return std::to_string(std::get<0>(chosen.param)) + (std::get<1>(chosen.param) ? "_moving" : "_staying");
});

/// Every depth at which a segment of the arena or the native stack may end, and some around it.
task<long> trunk(long n, long twigs) {
  if (n == 0) co_return 1;
  long below = 0, twig = 0;
  co_await fork(&below, trunk, n - 1, twigs);
  if (n % 64 == 0 && twigs > 0) co_await call(&twig, trunk, twigs, 0L);
  co_await join;
  co_return below + twig;
}

TEST(programs, of_any_depth_come_back) {
  for (unsigned const workers : {1u, 2u}) {
    nopal::pool pool{{.workers = workers}};
    for (long n = 1; n < 4000; n += test::sanitized ? 97 : 7) ASSERT_EQ(pool.run(trunk, n, 20L), 1 + n / 64) << n;
    for (long n = 1000; n < 200'000; n = n * 3 + 1) ASSERT_EQ(pool.run(trunk, n, 700L), 1 + n / 64) << n;
  }
}

task<> ends_after_its_parent_was_taken(std::atomic<bool> const& taken) {
  while (!taken) std::this_thread::yield();
  auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds{20};  // long enough for the parent to reach its join
  while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  co_return;
}
/// Loses its parent at every scope, and gets it back: each time the deque is empty at another index.
task<long> lost_and_found(long scopes) {
  long done = 0;
  for (; done < scopes; ++done) {
    std::atomic<bool> taken{false};
    co_await fork(ends_after_its_parent_was_taken, taken);
    taken = true;
    co_await join;
  }
  co_return done;
}

TEST(programs_stress, a_parent_stolen_in_every_scope_needs_no_more_room) {
  long const scopes = test::scaled(20'000, 2);  // more than a deque holds
  nopal::pool pool{{.workers = 2}};
  EXPECT_EQ(pool.run(lost_and_found, scopes), scopes);
  EXPECT_GT(pool.stats().suspensions, 4096u);
}

}  // namespace
