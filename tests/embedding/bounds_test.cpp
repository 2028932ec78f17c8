// The space bounds that docs/bounds.md states, on programs of each front end at 1 to 32 workers. The library's own counts are measured:
// bytes of segments, pages and numbers of native stacks, while they do not change.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "../fib.hpp"
#include "../scale.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/task/arena.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/scratch.hpp"
#include "nopal/task.hpp"

namespace {

namespace tuning = nopal::core::tuning;
using nopal::task;

constexpr std::uint64_t first = nopal::core::arena::first_size;
constexpr std::uint64_t page = 4096;  // of the bounds: where pages are larger, fewer are touched
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t per_arena = 67 << 10;
constexpr std::uint64_t few = 4;  // pages of the functions that search for work, and of the pool's own calls

// ---- The programs.

// Uses `pages` pages of native stack.
[[gnu::noinline]] long touch(int pages) {
  char bytes[page];
  std::memset(bytes, 1, sizeof bytes);
  asm volatile("" ::"r"(bytes) : "memory");
  long const below = pages > 1 ? touch(pages - 1) : 0;
  asm volatile("" ::"r"(bytes) : "memory");  // so that all of it is kept until here
  return below + 1;
}

bool may_stand(unsigned char const* rows, int n, int row) {
  for (int k = 0; k < n; ++k) {
    if (rows[k] == row || rows[k] - row == n - k || row - rows[k] == n - k) return false;
  }
  return true;
}

// Each node keeps its board in its frame.
template <int Size>
long native_queens(unsigned char const* before, int n) {
  if (n == Size) return 1;
  unsigned char boards[Size][Size];
  long found[Size]{};
  nopal::scope s;
  for (int row = 0; row < Size; ++row) {
    if (!may_stand(before, n, row)) continue;
    std::memcpy(boards[row], before, static_cast<std::size_t>(n));
    boards[row][n] = static_cast<unsigned char>(row);
    s.fork([&found, &boards, row, n] { found[row] = native_queens<Size>(boards[row], n + 1); });
  }
  s.join();
  long all = 0;
  for (long const one : found) all += one;
  return all;
}

template <int Size>
task<long> queens(unsigned char const* before, int n) {
  if (n == Size) co_return 1;
  auto const boards = co_await nopal::stack_array<unsigned char>(std::size_t{Size} * Size);
  auto const found = co_await nopal::stack_array<long>(Size);
  for (int row = 0; row < Size; ++row) {
    found[static_cast<std::size_t>(row)] = 0;
    if (!may_stand(before, n, row)) continue;
    unsigned char* const mine = boards.data() + row * Size;
    std::memcpy(mine, before, static_cast<std::size_t>(n));
    mine[n] = static_cast<unsigned char>(row);
    co_await nopal::fork(&found[static_cast<std::size_t>(row)], queens<Size>, static_cast<unsigned char const*>(mine), n + 1);
  }
  co_await nopal::join;
  long all = 0;
  for (long const one : found) all += one;
  co_return all;
}

task<long> deep_task(long depth) {
  if (depth == 0) co_return 0;
  long below = 0, beside = 0;
  co_await nopal::fork(&below, deep_task, depth - 1);
  co_await nopal::call(&beside, deep_task, 0);
  co_await nopal::join;
  co_return below + beside + 1;
}

long deep_native(long depth) {
  if (depth == 0) return 0;
  long below = 0;
  nopal::parallel_invoke([&] { below = deep_native(depth - 1); }, [] { touch(16); });
  return below + 1;
}

task<long> leaf(long k) { co_return k; }

task<long> wide_task(long children) {
  auto const all = co_await nopal::stack_array<long>(static_cast<std::size_t>(children));
  for (long k = 0; k < children; ++k) co_await nopal::fork(&all[static_cast<std::size_t>(k)], leaf, k);
  co_await nopal::join;
  long sum = 0;
  for (long const one : all) sum += one;
  co_return sum;
}

long wide_scope(long children) {
  std::atomic<long> sum{0};
  nopal::scope s;
  for (long k = 0; k < children; ++k) {
    s.fork([&sum, k] {
      touch(16);
      sum.fetch_add(k, std::memory_order_relaxed);
    });
  }
  s.join();
  return sum;
}

task<long> scratch_tree(long depth) {
  auto const mine = co_await nopal::stack_array<char>(std::size_t{1000} << (depth % 8));
  std::memset(mine.data(), 1, mine.size());
  if (depth == 0) co_return mine[mine.size() - 1];
  long a = 0, b = 0;
  co_await nopal::fork(&a, scratch_tree, depth - 1);
  co_await nopal::call(&b, scratch_tree, depth - 1);
  co_await nopal::join;
  co_return a + b;
}

struct program {
  char const* name;
  std::uint64_t forks;  // D: that nest on one path
  long (*run)(nopal::pool&);
};

unsigned char const no_queen[1]{};
program const programs[] = {
    {"fib of tasks", 14, [](nopal::pool& p) { return p.run(test::fib_task, 14); }},
    {"fib by parallel_invoke", 14, [](nopal::pool& p) { return p.run([] { return test::native::fib(14); }); }},
    {"fib by scopes", 14, [](nopal::pool& p) { return p.run([] { return test::scoped::fib(14); }); }},
    {"queens of tasks", 6, [](nopal::pool& p) { return p.run(queens<6>, no_queen, 0); }},
    {"queens by scopes", 6, [](nopal::pool& p) { return p.run([] { return native_queens<6>(no_queen, 0); }); }},
    {"a deep tree of tasks", 1000, [](nopal::pool& p) { return p.run(deep_task, 1000); }},
    {"a deep tree by parallel_invoke", 300, [](nopal::pool& p) { return p.run([] { return deep_native(300); }); }},
    {"a wide tree of tasks", 1, [](nopal::pool& p) { return p.run(wide_task, 1000); }},
    {"a wide tree by a scope", 1, [](nopal::pool& p) { return p.run([] { return wide_scope(500); }); }},
    {"a tree of tasks with scratch", 7, [](nopal::pool& p) { return p.run(scratch_tree, 7); }},
};

// ---- The bounds.

class bounds : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose own frames and pages are most of it";
  }
  unsigned workers() const { return GetParam(); }
  nopal::pool_options options() const { return {.workers = workers(), .pin = false}; }
};

// After a job, until the timer looks: each worker may keep an empty first segment, of twice the usual size at most, and one of twice that.
void expect_rest(nopal::stats const& s, unsigned workers) {
  EXPECT_LE(s.segment_bytes, workers * 6 * first);
  EXPECT_LE(s.segment_bytes + s.segment_bytes_free, s.segment_bytes_peak);
}

void expect_bounds(program const& it, nopal::pool& pool, long result, nopal::stats const& serial) {
  std::uint64_t const of_frames = serial.segment_bytes_peak;  // at least M1
  std::uint64_t const s1 = serial.stack_pages;                // at least S1
  std::uint64_t const p = pool.workers();
  EXPECT_EQ(it.run(pool), result);
  nopal::stats const s = pool.stats();
  expect_rest(s, pool.workers());
  std::uint64_t const arenas = std::min(p * (it.forks + 1), p + s.steals);
  EXPECT_LE(s.segment_bytes_peak, arenas * per_arena + p * (8 * of_frames + 6 * first));
  EXPECT_LE(s.stacks_peak, p * (it.forks + 2) + p * nopal::core::stack_cache::most);
  EXPECT_LE(s.stack_pages, p * (2 * s1 + few) + 2 * s.stacks_live);
}

TEST_P(bounds, hold_for_each_program) {
  for (program const& it : programs) {
    SCOPED_TRACE(it.name);
    // One worker that frees nothing: its pages and segments are at least what the serial run has used.
    nopal::pool one{{.workers = 1, .pin = false, .reclaim = nopal::reclaim::none}};
    long const result = it.run(one);
    nopal::stats const serial = one.stats();
    nopal::pool pool{options()};
    for (int again = 0; again < 3; ++again) expect_bounds(it, pool, result, serial);
    // And with a schedule that steals all that is offered, if any worker has nothing else.
    nopal::pool_options stealing = options();
    stealing.schedule = nopal::schedule::steal_always;
    nopal::pool stolen{stealing};
    expect_bounds(it, stolen, result, serial);
  }
}

INSTANTIATE_TEST_SUITE_P(at, bounds, testing::Values(1, 2, 3, 4, 8, 16, 32), [](auto const& i) { return std::to_string(i.param); });

// ---- One path on which every stack is left, after a deep use.

struct path {
  nopal::pool& pool;
  int levels;
  int touched;            // pages, on each level
  std::uint64_t at_most;  // pages, while all wait
  nopal::stats while_all_wait{};
};

// The first half waits, without a fork, until a thief has begun the second: so the join must wait for that, and the stack is left.
void go_down(path& it, int level) {
  if (level == it.levels) {
    // The stack that was left last may still be on its way to rest; after that nothing changes.
    for (int k = 0; k < 10'000; ++k) {
      it.while_all_wait = it.pool.stats();
      if (it.while_all_wait.stack_pages <= it.at_most) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return;
  }
  touch(it.touched);
  std::atomic<bool> begun{false};
  nopal::parallel_invoke(
      [&] {
        while (!begun) std::this_thread::yield();
      },
      [&] {
        begun = true;
        go_down(it, level + 1);
        touch(it.touched);
      });
}

TEST_P(bounds, of_stacks_that_wait_at_joins) {
  if (workers() == 1) GTEST_SKIP() << "which nobody steals from";
  nopal::pool pool{options()};
  constexpr std::uint64_t depth = 60, touched = 100, s1 = touched + few;
  path it{pool, depth, touched, s1 + tuning::pages_kept_at_join * (depth + 1) + workers() * s1};
  pool.run([&] { go_down(it, 0); });
  EXPECT_GE(it.while_all_wait.stacks_live, depth / 2);
  EXPECT_LE(it.while_all_wait.stack_pages, it.at_most);
  nopal::stats const s = pool.stats();  // each stack was used again on the way up, and is free now
  EXPECT_LE(s.stack_pages, workers() * s1 + 2 * s.stacks_live);
}

// ---- Free stacks.

// Whatever resumes a stack has a free one more, and whoever waits at a join needs one. Over many steals one worker has far more of the one
// kind than of the other. Free stacks go round all the same: so there are no more than the paths need, and for each worker the one on which
// it searches and one that it keeps, however long the program runs. And Theorem 4.2 of the Fibril paper holds with its constant.
TEST_P(bounds, of_free_stacks_that_go_round) {
  if (workers() < 2 || workers() > 8) GTEST_SKIP() << "where nobody steals, or one worker at a time takes long";
  constexpr int forks = 3, times = 2000;
  using run = long (*)(nopal::pool&);
  for (run const once : {run{[](nopal::pool& p) { return p.run([] { return test::native::fib(forks + 1); }); }},
                         run{[](nopal::pool& p) { return p.run([] { return test::scoped::fib(forks + 1); }); }}}) {
    nopal::pool serial{{.workers = 1, .pin = false, .experimental = {.reclaim = nopal::reclaim::none}}};
    long const result = once(serial);
    nopal::pool_options stealing = options();
    stealing.experimental.schedule = nopal::schedule::steal_always;
    nopal::pool pool{stealing};
    for (int k = 0; k < times; ++k) ASSERT_EQ(once(pool), result);
    nopal::stats const s = pool.stats();
    EXPECT_GE(s.steals, std::uint64_t{times});
    EXPECT_LE(s.stacks_peak, workers() * (forks + 1 + 2));
    EXPECT_LE(s.stack_pages_peak, workers() * (serial.stats().stack_pages + forks + 1));
  }
}

// They accumulate at a worker that resumes more than it suspends. Each was used deeply, and keeps two pages.
TEST_P(bounds, of_free_stacks) {
  if (workers() > 2) GTEST_SKIP() << "where more stay free than there are here";
  nopal::pool pool{options()};
  constexpr int touched = 6;
  std::uint64_t const fibers = workers() * (nopal::core::stack_cache::most + tuning::kept_stacks) + 500;
  nopal::counter all, gate{1}, waiting{static_cast<std::int64_t>(fibers)};
  for (std::uint64_t k = 0; k < fibers; ++k) {
    pool.spawn(all, [&] {
      touch(touched);
      waiting.done();
      nopal::wait_for(gate);
    });
  }
  nopal::wait_for(waiting);
  EXPECT_GE(pool.stats().stacks_peak, fibers);
  gate.done();
  nopal::wait_for(all);
  nopal::stats const s = pool.stats();
  std::uint64_t const most = workers() * (nopal::core::stack_cache::most + tuning::kept_stacks + 2);
  EXPECT_LE(s.stacks_live, most);
  EXPECT_LE(s.stack_pages, 2 * most + workers() * (touched + few));  // counted before the stacks: some of these may end in between
}

void scopes_deep_down(int levels, int touched) {
  touch(touched);
  if (levels == 0) return;
  nopal::scope s;
  s.fork([=] { scopes_deep_down(levels - 1, touched); });
  s.join();
}

// The stacks of a scope's children keep the pages that these have touched, but no more of them than a worker's cache holds.
TEST_P(bounds, of_free_stacks_of_scopes) {
  if (workers() > 2) GTEST_SKIP() << "where the caches hold all of them";
  nopal::pool pool{options()};
  constexpr int touched = 64, levels = 400;
  pool.run([] { scopes_deep_down(levels, touched); });
  nopal::stats const s = pool.stats();
  EXPECT_GE(s.stacks_peak, levels);
  EXPECT_LE(s.stack_pages, workers() * (nopal::core::stack_cache::most + 2) * (touched + few) + 2 * s.stacks_live);
}

// ---- Frames and scratch.

task<char> fill(std::size_t bytes) {
  auto const all = co_await nopal::stack_array<char>(bytes);
  std::memset(all.data(), 1, bytes);
  co_return all[bytes / 2];
}
task<char> fill_above_a_frame(std::size_t bytes) {
  char result = 0;
  co_await nopal::call(&result, fill, bytes);
  co_return result;
}

TEST_P(bounds, of_what_stays_after_scratch) {
  nopal::pool pool{options()};
  for (std::size_t const bytes : {100'000ul, 1'000'000ul, 10'000'000ul, 40'000'000ul}) {
    EXPECT_EQ(pool.run(fill, bytes), 1);
    expect_rest(pool.stats(), workers());
    EXPECT_EQ(pool.submit(fill_above_a_frame, bytes).get(), 1);
    while (pool.stats().segment_bytes > workers() * 6 * first) {  // the worker's thread may still be at the end of its strand
      ASSERT_LT(pool.stats().segment_bytes, bytes) << "is kept by a worker";
      std::this_thread::yield();
    }
  }
}

task<bool> work_until_it_is_gone(nopal::pool& pool) {
  char filled = 0;
  {
    auto const more = co_await nopal::stack_array<char>(64 * mib);  // so that the pool has used much more than all that follows
    more[0] = 1;
    co_await nopal::call(&filled, fill, 80 * mib);
  }
  co_await nopal::call(&filled, fill, 64 * mib);
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + std::chrono::minutes{1}; clock::now() < end;) {
    long sum = 0;
    co_await nopal::call(&sum, wide_task, 10'000);
    if (pool.stats().segment_bytes_free <= tuning::little_memory) co_return true;
  }
  co_return false;
}

// One job all the time: until it ends no worker sleeps, and so none starts the timer.
TEST(bounds_alone, of_huge_scratch_while_the_pool_is_busy) {
  nopal::pool pool{{.workers = 1, .idle = nopal::idle::busy, .pin = false}};
  EXPECT_TRUE(pool.run(work_until_it_is_gone, std::ref(pool)));
}

// The same amount at once in each size, one size after the other: free memory of one makes room for the next.
TEST_P(bounds, of_segments_of_all_sizes) {
  nopal::pool pool{options()};
  for (std::size_t bytes = 30'000; bytes < mib; bytes *= 2) {
    std::size_t const tasks = 8 * mib / bytes;
    nopal::counter all, gate{1}, waiting{static_cast<std::int64_t>(tasks)};
    auto const hold = [&]() -> void {
      nopal::sync_wait(
          [](std::size_t n, nopal::counter& here, nopal::counter& open) -> task<void> {
            auto const mine = co_await nopal::stack_array<char>(n);
            mine[0] = 1;
            here.done();
            co_await open.reaches(0);
          },
          bytes, std::ref(waiting), std::ref(gate));
    };
    for (std::size_t k = 0; k < tasks; ++k) pool.spawn(all, hold);
    nopal::wait_for(waiting);
    gate.done();
    nopal::wait_for(all);
    nopal::stats const s = pool.stats();
    EXPECT_LE(s.segment_bytes + s.segment_bytes_free, s.segment_bytes_peak);
    EXPECT_LE(s.segment_bytes_peak, 32 * mib + workers() * 4 * first);
  }
}

// The native stack below tasks, at any depth of these: `nesting` bytes, and what one of them calls.
TEST_P(bounds, of_the_native_stack_below_tasks) {
  nopal::pool pool{options()};
  EXPECT_EQ(pool.run(deep_task, 100'000), 100'000);
  nopal::stats const s = pool.stats();
  EXPECT_LE(s.stack_pages, workers() * (tuning::nesting / page + 2 * few) + 2 * s.stacks_live);
}

}  // namespace
