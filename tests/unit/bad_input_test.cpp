// Options that cannot be met, machines that do not exist, and lack of memory: each gives a message, and nothing breaks.

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "../scale.hpp"
#include "allocation_switch.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/task.hpp"

namespace {

#ifdef TEST_KEEPS_OPERATOR_NEW
#define KEEPS_OPERATOR_NEW_SKIP() GTEST_SKIP() << "operator new cannot be replaced here"
#else
#define KEEPS_OPERATOR_NEW_SKIP() static_cast<void>(0)
#endif

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

/// The message of std::invalid_argument when a pool is made with `o`.
std::string refusal(nopal::pool_options const& o) {
  try {
    nopal::pool pool{o};
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

bool mentions(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST(bad_input, pinning_more_workers_than_cpus_names_both) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  int const cpus = CPU_COUNT(&mask);
  std::string const said = refusal({.workers = static_cast<unsigned>(cpus) + 7, .pin = true});
  EXPECT_TRUE(mentions(said, "pin = true")) << said;
  EXPECT_TRUE(mentions(said, std::to_string(cpus + 7))) << said;
  EXPECT_TRUE(mentions(said, "only " + std::to_string(cpus))) << said;
}

TEST(bad_input, as_many_workers_as_cpus_may_be_pinned) {
  nopal::pool pool{{.workers = 1, .pin = true}};
  EXPECT_EQ(pool.run(fib, 10), 55);
}

TEST(bad_input, too_many_workers_are_refused) {
  std::string const said = refusal({.workers = 1'000'000});
  EXPECT_TRUE(mentions(said, "workers = 1000000")) << said;
}

TEST(bad_input, too_large_stacks_are_refused) {
  for (std::size_t const size : {(std::size_t{1} << 40) + 1, (std::size_t{1} << 63) + 1, ~std::size_t{0}}) {
    std::string const said = refusal({.workers = 1, .stack_size = size});
    EXPECT_TRUE(mentions(said, "stack_size = " + std::to_string(size) + " bytes is more than the limit of 1099511627776")) << said;
  }
}

TEST(bad_input, too_small_stacks_are_refused) {
  std::string const said = refusal({.workers = 1, .stack_size = 100});
  EXPECT_TRUE(mentions(said, "stack_size = 100")) << said;
}

/// Sets an environment variable for a while.
class variable {
 public:
  variable(char const* name, char const* value) : name_{name} {
    if (char const* const before = getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;
  ~variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  char const* name_;
  std::optional<std::string> before_;
};

TEST(bad_input, a_made_up_machine_that_makes_no_sense_is_refused) {
  variable const machine{"HWLOC_SYNTHETIC", "three sheep and a dog"};
  std::string const said = refusal({.workers = 2});
  EXPECT_TRUE(mentions(said, "HWLOC_SYNTHETIC")) << said;
  EXPECT_TRUE(mentions(said, "three sheep and a dog")) << said;
}

TEST(bad_input, a_made_up_machine_that_makes_sense_is_not) {
  variable const machine{"HWLOC_SYNTHETIC", "numa:2 core:4 pu:1"};
  nopal::pool pool{{.workers = 8}};
  EXPECT_EQ(pool.workers(), 8u);
  for (int k = 0; k < 20; ++k) ASSERT_EQ(pool.run(fib, 16), 987);
  EXPECT_TRUE(mentions(refusal({.workers = 1, .pin = true}), "HWLOC_SYNTHETIC"));
}

#ifndef TEST_KEEPS_OPERATOR_NEW

// ---- Lack of memory.

class no_memory {
 public:
  no_memory() { test::fail_nothrow_allocations(true); }
  no_memory(no_memory const&) = delete;
  no_memory& operator=(no_memory const&) = delete;
  ~no_memory() { test::fail_nothrow_allocations(false); }
};

task<long> forks_deep(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  co_await fork(&below, forks_deep, n - 1);
  co_await join;
  co_return below + 1;
}
task<long> calls_deep(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await call(calls_deep, n - 1);
}
task<long> forks_wide(long n) {
  long total = 0;
  for (long k = 0; k < n; ++k) {
    long a = 0, b = 0;
    co_await fork(&a, fib, 8);
    co_await fork(&b, forks_deep, 2000);
    co_await join;
    total += a + b;
  }
  co_return total;
}
task<bool> catches_and_goes_on(bool forked) {
  // A catch clause must not join: what is left to join is joined below.
  bool caught = false;
  long a = 0;
  try {
    if (forked) {
      co_await fork(&a, forks_deep, 100'000);
    } else {
      a = co_await call(calls_deep, 100'000);
    }
  } catch (std::bad_alloc const&) {
    caught = true;
  }
  try {
    co_await join;
  } catch (std::bad_alloc const&) {
    caught = true;
  }
  co_return caught;
}

TEST(bad_input, no_memory_for_a_frame_is_bad_alloc) {
  KEEPS_OPERATOR_NEW_SKIP();
  for (unsigned const workers : {1u, 2u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    for (long k = 0; k < test::scaled(20, 10); ++k) {
      {
        no_memory const now;
        EXPECT_THROW(pool.run(forks_deep, 100'000), std::bad_alloc);
        EXPECT_THROW(pool.run(calls_deep, 100'000), std::bad_alloc);
        EXPECT_THROW(pool.submit(forks_deep, 100'000).get(), std::bad_alloc);
      }
      ASSERT_EQ(pool.run(forks_deep, 2000), 2000);
      ASSERT_EQ(pool.run(fib, 15), 610);
    }
    ASSERT_EQ(pool.run(forks_deep, 100'000), 100'000);
  }
}

TEST(bad_input, a_task_may_catch_bad_alloc_and_go_on) {
  KEEPS_OPERATOR_NEW_SKIP();
  for (unsigned const workers : {1u, 2u}) {
    nopal::pool pool{{.workers = workers}};
    ASSERT_EQ(pool.run(fib, 10), 55);
    for (bool const forked : {true, false}) {
      for (int k = 0; k < 20; ++k) {
        bool caught = false;
        try {
          no_memory const now;
          caught = pool.run(catches_and_goes_on, forked);
        } catch (std::bad_alloc const&) {  // not even the first frame
          caught = true;
        }
        ASSERT_TRUE(caught);
        ASSERT_EQ(pool.run(fib, 10), 55);
      }
    }
  }
}

TEST(bad_input, memory_that_comes_and_goes_breaks_nothing) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<bool> stop{false};
  std::thread weather{[&] {
    while (!stop) {
      test::fail_nothrow_allocations(true);
      std::this_thread::sleep_for(std::chrono::microseconds{30});
      test::fail_nothrow_allocations(false);
      std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
  }};
  long wrong = 0;
  for (int k = 0; k < test::scaled(200); ++k) {
    try {
      wrong += pool.run(forks_wide, 20L) != 20 * 2021;
    } catch (std::bad_alloc const&) {
    }
  }
  stop = true;
  weather.join();
  test::fail_nothrow_allocations(false);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool.run(forks_wide, 20L), 20 * 2021);
}

#endif

}  // namespace
