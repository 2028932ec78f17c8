// stack_array: its memory, its objects, and where it may not be used.

#include "nopal/scratch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::stack_array;
using nopal::task;

template <class F>
void on_some_pools(F&& f) {
  for (unsigned const workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    for (int k = 0; k < 10; ++k) f(pool);
  }
}

task<bool> fills(std::size_t n) {
  auto const a = co_await stack_array<std::uint32_t>(n);
  auto const b = co_await stack_array<unsigned char>(n);
  std::iota(a.begin(), a.end(), 1u);
  std::memset(b.data(), 0xff, n);
  bool right = a.size() == n && b.size() == n;
  for (std::size_t i = 0; i < n; ++i) right = right && a[i] == i + 1;
  co_return right;
}

TEST(scratch, has_any_size) {
  on_some_pools([](nopal::pool& pool) {
    for (std::size_t const n : {1u, 2u, 15u, 16u, 17u, 1000u, 8191u, 8192u, 100'000u, 3'000'000u}) EXPECT_TRUE(pool.run(fills, n)) << n;
  });
}

struct alignas(64) line {
  unsigned char bytes[64];
};
struct alignas(4096) page {
  unsigned char bytes[4096];
};
task<bool> is_aligned(std::size_t n) {
  auto const small = co_await stack_array<char>(n);
  auto const lines = co_await stack_array<line>(n);
  auto const pages = co_await stack_array<page>(n);
  std::memset(lines.data(), 1, n * sizeof(line));
  std::memset(pages.data(), 1, n * sizeof(page));
  std::memset(small.data(), 2, n);
  co_return reinterpret_cast<std::uintptr_t>(lines.data()) % 64 == 0 && reinterpret_cast<std::uintptr_t>(pages.data()) % 4096 == 0 &&
      lines[n - 1].bytes[63] == 1 && pages[0].bytes[0] == 1;
}

TEST(scratch, is_aligned_as_its_type) {
  on_some_pools([](nopal::pool& pool) {
    for (std::size_t const n : {1u, 3u, 100u}) EXPECT_TRUE(pool.run(is_aligned, n)) << n;
  });
}

/// Notes the order in which its instances are made and destroyed. One thread at a time.
struct recorder {
  recorder() : number{next++} {
    if (number == fails_at) throw std::runtime_error{"constructor"};
    log.push_back(number);
  }
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder() { log.push_back(-number); }
  int number;
  static inline int next = 1;
  static inline int fails_at = 0;
  static inline std::vector<int> log;
};
task<> records() {
  auto const a = co_await stack_array<recorder>(2);
  auto const b = co_await stack_array<recorder>(3);
}

TEST(scratch, constructs_in_order_and_destroys_in_reverse) {
  nopal::pool pool{{.workers = 1}};
  recorder::next = 1;
  recorder::log.clear();
  pool.run(records);
  EXPECT_EQ(recorder::log, (std::vector<int>{1, 2, 3, 4, 5, -5, -4, -3, -2, -1}));
}

TEST(scratch, is_freed_if_a_constructor_throws) {
  nopal::pool pool{{.workers = 1}};
  recorder::next = 1;
  recorder::fails_at = 5;
  recorder::log.clear();
  EXPECT_THROW(pool.run(records), std::runtime_error);
  recorder::fails_at = 0;
  ASSERT_EQ(recorder::log.size(), 8u);
  EXPECT_EQ(std::accumulate(recorder::log.begin(), recorder::log.end(), 0), 0);  // each was destroyed
  EXPECT_TRUE(pool.run(fills, std::size_t{1000}));
}

long sum(std::span<long const> s) { return std::accumulate(s.begin(), s.end(), 0L); }
task<> fill(std::span<long> s, long first) {
  std::iota(s.begin(), s.end(), first);
  co_return;
}
task<long> passes_spans(std::size_t n) {
  auto const tmp = co_await stack_array<long>(2 * n);
  std::span<long> const all = tmp;
  co_await fork(fill, all.first(n), 0L);
  co_await fork(fill, all.last(n), 100L);
  co_await join;
  co_return sum(all);
}

TEST(scratch, is_a_span_that_children_may_fill) {
  on_some_pools([](nopal::pool& pool) { EXPECT_EQ(pool.run(passes_spans, std::size_t{10}), 45 + 1045); });
}

/// Every node keeps its children's sums in scratch memory of its own, and checks that no other node wrote there.
task<long> tree(int depth, long mark) {
  if (depth == 0) co_return 1;
  auto const guard = co_await stack_array<long>(static_cast<std::size_t>(1 + mark % 50));
  for (long& g : guard) g = mark;
  auto const sums = co_await stack_array<long>(3);
  for (std::size_t k = 0; k < sums.size(); ++k) co_await fork(&sums[k], tree, depth - 1, mark * 3 + static_cast<long>(k));
  co_await join;
  long total = 1;
  {
    auto const again = co_await stack_array<long>(3);
    for (std::size_t k = 0; k < 3; ++k) again[k] = sums[k];
    total += co_await call(tree, depth - 1, mark);
    total += sum(again);
  }
  for (long const g : guard) total += g == mark ? 0 : 1'000'000'000;
  co_return total;
}

TEST(scratch, nests_in_recursion_whoever_steals) {
  long expected = 1;
  for (int depth = 0; depth < 6; ++depth) expected = 1 + 4 * expected;
  on_some_pools([&](nopal::pool& pool) { EXPECT_EQ(pool.run(tree, 6, 1L), expected); });
}

task<> wait_until(std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
  co_return;
}
task<bool> is_stolen_with_scratch() {
  auto const before = co_await stack_array<int>(100);
  for (int& x : before) x = 5;
  for (int k = 0; k < 3; ++k) {
    std::atomic<bool> gone_on{false};
    co_await fork(wait_until, gone_on);
    gone_on = true;
    co_await join;
    auto const after = co_await stack_array<int>(50);
    for (int& x : after) x = 6;
  }
  bool right = true;
  for (int const x : before) right = right && x == 5;
  co_return right;
}

TEST(scratch, stays_with_a_stolen_task) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(pool.run(is_stolen_with_scratch));
}

// ---- Misuse.

template <class Exception, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (Exception const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

task<> asks_for_nothing() { auto const a = co_await stack_array<int>(0); }

TEST(scratch, of_no_elements_is_refused) {
  nopal::pool pool{{.workers = 2}};
  EXPECT_NE(message_of<std::invalid_argument>([&] { pool.run(asks_for_nothing); }).find("nopal::stack_array(0)"), std::string::npos);
}

task<> child(std::atomic<int>& alive) {
  ++alive;
  for (int k = 0; k < 100; ++k) std::this_thread::yield();
  --alive;
  co_return;
}
task<int> asks_in_a_scope(bool& refused) {
  std::atomic<int> alive{0};
  co_await fork(child, alive);
  try {
    auto const a = co_await stack_array<int>(7);
  } catch (std::logic_error const& e) {
    refused = std::string{e.what()}.find("stack_array(7) between fork and join") != std::string::npos;
  }
  int const left = alive.load();
  co_await join;
  co_return left;
}

TEST(scratch, between_fork_and_join_is_refused_once_the_children_have_ended) {
  on_some_pools([](nopal::pool& pool) {
    bool refused = false;
    EXPECT_EQ(pool.run(asks_in_a_scope, refused), 0);
    EXPECT_TRUE(refused);
  });
}

task<> asks_for(std::size_t n) { auto const a = co_await stack_array<long>(n); }

TEST(scratch, that_no_machine_has_is_bad_alloc) {
  on_some_pools([](nopal::pool& pool) {
    for (std::size_t const n : {~std::size_t{0}, ~std::size_t{0} / 8, ~std::size_t{0} / 16}) {
      EXPECT_THROW(pool.run(asks_for, n), std::bad_alloc) << n;
    }
    // The sanitizers' allocators end the program.
    if (!test::sanitized) {
      EXPECT_THROW(pool.run(asks_for, std::size_t{1} << 43), std::bad_alloc);
    }
    EXPECT_TRUE(pool.run(fills, std::size_t{1000}));
  });
}

}  // namespace
