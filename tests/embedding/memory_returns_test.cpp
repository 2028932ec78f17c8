// A pool returns memory that it no longer needs to the system while it lives. Each test waits for that, up to a minute.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/task.hpp"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t mapped_bytes() {
  std::size_t all = 0;
  std::ifstream{"/proc/self/statm"} >> all;
  return all * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Waits until the process holds less than `limit`. False: it does not within a minute.
bool falls_below(std::size_t limit) {
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + std::chrono::minutes{1}; resident_bytes() >= limit;) {
    if (clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return true;
}

class memory_returns : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = test::death_test_style();
    if (test::sanitized || test::emulated()) GTEST_SKIP() << "whose own memory is most of it";
  }
  // The rest may be `some` more than before.
  void expect_back(std::size_t before, std::size_t peak, std::size_t at_least, std::size_t some) {
    EXPECT_GT(peak, before + at_least);
    EXPECT_TRUE(falls_below(before + some)) << (resident_bytes() - before) / mib << " MiB of " << (peak - before) / mib << " are left";
  }
};
using memory_returns_death = memory_returns;

nopal::task<std::size_t> fill_scratch(std::size_t bytes, std::size_t& peak) {
  auto const all = co_await nopal::stack_array<char>(bytes);
  std::memset(all.data(), 1, bytes);
  peak = resident_bytes();
  co_return static_cast<std::size_t>(all[bytes / 2]);
}

TEST_F(memory_returns, after_scratch_was_used_once) {
  nopal::pool pool{{.workers = 2}};
  std::size_t const before = resident_bytes();
  for (int again = 0; again < 2; ++again) {
    std::size_t peak = 0;
    EXPECT_EQ(pool.run(fill_scratch, 512 * mib, std::ref(peak)), 1u);
    expect_back(before, peak, 500 * mib, 16 * mib);
    peak = 0;
    EXPECT_EQ(pool.submit(fill_scratch, 512 * mib, std::ref(peak)).get(), 1u);  // on a worker's own thread
    expect_back(before, peak, 500 * mib, 16 * mib);
  }
}

nopal::task<> ends_elsewhere(nopal::pool& there) { co_await nopal::resume_on(there); }

// `n` times, some at a time.
void end_elsewhere(nopal::pool& here, nopal::pool& there, long n) {
  constexpr long at_once = 100;
  for (long k = 0; k < n; k += at_once) {
    std::vector<nopal::future<void>> all;
    for (long i = 0; i < at_once; ++i) all.push_back(here.submit(ends_elsewhere, std::ref(there)));
    for (auto& one : all) one.get();
  }
}

TEST_F(memory_returns, of_tasks_that_end_on_another_pool) {
  auto const bytes = [](nopal::stats const& s) { return s.segment_bytes + s.segment_bytes_free; };
  std::size_t const at_first = resident_bytes();
  {
    nopal::pool one{{.workers = 1}};
    nopal::pool other{{.workers = 1}};
    end_elsewhere(one, other, 1000);
    end_elsewhere(other, one, 1000);
    std::size_t const resident = resident_bytes(), mapped = mapped_bytes();
    for (int round = 0; round < 2; ++round) {
      end_elsewhere(one, other, 50'000);
      end_elsewhere(other, one, 50'000);
      EXPECT_LE(mapped_bytes(), mapped + 16 * mib);
      EXPECT_LE(resident_bytes(), resident + 16 * mib);
      EXPECT_LE(bytes(one.stats()), 8 * mib);
      EXPECT_LE(bytes(other.stats()), 8 * mib);
    }
    {
      nopal::pool third{{.workers = 1}};  // has the segments of both when it ends
      end_elsewhere(one, third, 10'000);
      end_elsewhere(other, third, 10'000);
    }
    end_elsewhere(one, other, 10'000);
    EXPECT_LE(resident_bytes(), resident + 16 * mib);  // the C library maps much for the third pool's threads
  }
  EXPECT_TRUE(falls_below(at_first + 16 * mib)) << (resident_bytes() - at_first) / mib << " MiB are left";
}

nopal::task<int> nest_and_wait(int depth, nopal::counter& gate) {
  if (depth == 0) {
    co_await gate.reaches(0);
    co_return 0;
  }
  int below = 0;
  co_await nopal::call(&below, nest_and_wait, depth - 1, std::ref(gate));
  co_return below + 1;
}

TEST_F(memory_returns, after_a_burst_of_tasks) {
  nopal::pool pool{{.workers = 2}};
  std::size_t const before = resident_bytes();
  nopal::counter gate{1}, all, waiting{4000};
  pool.run([&] {
    for (int k = 0; k < 4000; ++k) {
      nopal::spawn(all, [&] {
        waiting.done();
        nopal::sync_wait(nest_and_wait, 500, std::ref(gate));
      });
    }
  });
  nopal::wait_for(waiting);
  std::size_t const peak = resident_bytes();
  gate.done();
  nopal::wait_for(all);
  expect_back(before, peak, 300 * mib, 64 * mib);
}

TEST_F(memory_returns, after_many_fibers_were_spawned_at_once) {
  nopal::pool pool{{.workers = 2}};
  std::size_t const before = resident_bytes();
  for (bool const outside : {false, true}) {
    std::size_t peak = 0;
    nopal::counter all, gate{1};
    std::atomic<long> ran{0};
    constexpr long fibers = 3'000'000;
    auto const spawn_all = [&] {
      for (long k = 0; k < fibers; ++k) pool.spawn(all, [&] { ran.fetch_add(1, std::memory_order_relaxed); });
      peak = resident_bytes();
    };
    // The other worker is busy until then, so that most of them wait.
    std::atomic<bool> begun{false}, go_on{false};
    std::thread busy{[&] {
      pool.run([&] {
        begun = true;
        while (!go_on) std::this_thread::yield();
      });
    }};
    while (!begun) std::this_thread::yield();
    if (outside) {
      spawn_all();
    } else {
      pool.run(spawn_all);
    }
    go_on = true;
    busy.join();
    nopal::wait_for(all);
    gate.done();
    EXPECT_EQ(ran, fibers);
    expect_back(before, peak, outside ? 0 : 100 * mib, 32 * mib);
  }
}

// With one worker all that was put into its ring leaves at the same end.
TEST_F(memory_returns, after_many_fibers_that_nobody_has_stolen) {
  nopal::pool pool{{.workers = 1}};
  std::size_t const before = resident_bytes();
  std::size_t peak = 0;
  nopal::counter all;
  pool.run([&] {
    for (long k = 0; k < 3'000'000; ++k) nopal::spawn(all, [] {});
    peak = resident_bytes();
  });
  nopal::wait_for(all);
  expect_back(before, peak, 100 * mib, 32 * mib);
}

nopal::task<long> deep_fork(long n) {
  long below = -1;
  if (n > 0) {
    co_await nopal::fork(&below, deep_fork, n - 1);
    co_await nopal::join;
  }
  co_return below + 1;
}

// The deque has grown, and is empty again.
TEST_F(memory_returns, after_forks_that_nest_deeply) {
  nopal::pool pool{{.workers = 1}};
  std::size_t const before = resident_bytes();
  EXPECT_EQ(pool.run(deep_fork, 4'000'000L), 4'000'000);
  expect_back(before, resident_bytes(), 16 * mib, 16 * mib);
}

// Each call touches a kilobyte.
[[gnu::noinline]] long deep_call(long depth) {
  char frame[1024];
  std::memset(frame, 1, sizeof frame);
  long const below = depth == 0 ? -1 : deep_call(depth - 1);
  asm volatile("" ::"r"(frame) : "memory");  // so that all of it is kept until here
  return below + 1;
}

TEST_F(memory_returns, after_a_deep_recursion) {
  nopal::pool pool{{.workers = 2, .stack_size = 128 * mib}};
  std::size_t const before = resident_bytes();
  for (bool const on_own_thread : {false, true}) {
    std::size_t peak = 0;
    auto const go_deep = [&] {
      long const depth = deep_call(100'000);
      peak = resident_bytes();
      return depth;
    };
    EXPECT_EQ(on_own_thread ? pool.submit(go_deep).get() : pool.run(go_deep), 100'000);
    expect_back(before, peak, 90 * mib, 8 * mib);
  }
}

nopal::task<bool> keep_scratch(nopal::counter& gate, unsigned char value) {
  auto const mine = co_await nopal::stack_array<unsigned char>(100'000);
  std::memset(mine.data(), value, mine.size());
  co_await gate.reaches(0);
  bool same = true;
  for (unsigned char const c : mine) same = same && c == value;
  co_return same;
}

// A waiting strand keeps all that it has on its stack and in its arena.
TEST_F(memory_returns, but_only_what_nothing_uses) {
  nopal::pool pool{{.workers = 2}};
  nopal::counter gate{1}, all, waiting{200};
  std::atomic<int> well{0};
  pool.run([&] {
    for (int k = 0; k < 200; ++k) {
      nopal::spawn(all, [&, k] {
        unsigned char volatile on_stack[50'000];
        for (auto& c : on_stack) c = static_cast<unsigned char>(k);
        waiting.done();
        bool same = nopal::sync_wait(keep_scratch, std::ref(gate), static_cast<unsigned char>(k));
        for (auto const& c : on_stack) same = same && c == static_cast<unsigned char>(k);
        well += same;
      });
    }
  });
  nopal::wait_for(waiting);
  std::size_t const before = resident_bytes();
  std::size_t peak = 0;
  EXPECT_EQ(pool.run(fill_scratch, 256 * mib, std::ref(peak)), 1u);
  expect_back(before, peak, 250 * mib, 16 * mib);
  gate.done();
  nopal::wait_for(all);
  EXPECT_EQ(well, 200);
}

[[noreturn]] void use_much_in_locked_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    std::fputs("not allowed\n", stderr);
    std::_Exit(0);
  }
  nopal::pool pool{{.workers = 2}};
  std::size_t const before = resident_bytes();
  std::size_t peak = 0;
  static_cast<void>(pool.run(fill_scratch, 128 * mib, std::ref(peak)));
  bool const back = falls_below(before + 16 * mib);
  std::fprintf(stderr, "%zu MiB of %zu are left\n", (resident_bytes() - before) / mib, (peak - before) / mib);
  std::_Exit(back && peak > before + 120 * mib ? 0 : 1);
}

TEST_F(memory_returns_death, though_the_program_has_locked_it) {
  EXPECT_EXIT(use_much_in_locked_memory(), testing::ExitedWithCode(0), "not allowed|are left");
}

}  // namespace
