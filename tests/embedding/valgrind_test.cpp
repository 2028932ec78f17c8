// memcheck supports nopal's native stacks: it reports nothing of a correct program that switches between them, and still reports errors.
// docs/valgrind.md.

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "../fib.hpp"
#include "nopal/channel.hpp"
#include "nopal/core/compiler/sanitizers.h"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::counter;
using nopal::task;

constexpr int reported = 9;

// The exit status of `valgrind` for `command`.
int exit_of_memcheck(std::string const& command) {
  std::string line = "valgrind --tool=memcheck --error-exitcode=";
  line.append(std::to_string(reported)).append(" -q ").append(command).append(" > /dev/null 2>&1");
  int const status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe)
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs one test of this program, which is disabled in a plain run.
int exit_of_memcheck_on(char const* test) {
  std::string command = "'";
  command.append(std::filesystem::read_symlink("/proc/self/exe").string());
  return exit_of_memcheck(command.append("' --gtest_also_run_disabled_tests --gtest_filter=").append(test));
}

bool can_run() {
#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
  return !NOPAL_ASAN && !NOPAL_TSAN && exit_of_memcheck("true") == 0;
#endif
#endif
  return false;
}

// All that switches stacks, on small and large frames, with exceptions; stacks are reused by strands that need more of them, and less.
TEST(under_valgrind, DISABLED_whatever_switches) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(pool.run([] { return test::native::fib(12); }), 144);
    EXPECT_EQ(pool.run([] { return test::scoped::fib(10); }), 55);
    EXPECT_EQ(pool.run(test::fib_task, 12), 144);
    long sum = 0;
    int thrown = 0;
    pool.run([&] {
      nopal::channel<int> ch{2};
      counter left;
      for (int k = 0; k < 40; ++k) {
        nopal::spawn(left, [&, k] {
          char large[30'000];
          auto* volatile const used = large;
          used[k] = 1;
          EXPECT_TRUE(ch.push(k));
          nopal::yield();
          if (k % 10 == 0) throw k;
        });
      }
      for (int k = 0; k < 40; ++k) sum += *ch.pop();
      try {
        nopal::wait_for(left);
      } catch (int) {
        ++thrown;
      }
    });
    EXPECT_EQ(sum, 780);
    EXPECT_EQ(thrown, 1);
  }
}

// A fiber that branches on memory that it has not written, and one that reads memory that it has freed: both on reused stacks.
TEST(under_valgrind, DISABLED_a_fiber_that_reads_what_it_has_not_written) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    counter left;
    for (int k = 0; k < 3; ++k) {
      nopal::spawn(left, [] {
        int volatile unwritten[100];
        asm volatile("" : : "r"(unwritten) : "memory");
        if (unwritten[50] == 12345) std::abort();
      });
      nopal::wait_for(left);
    }
  });
}
int const volatile* volatile freed = nullptr;  // a compiler knows nothing of it
TEST(under_valgrind, DISABLED_a_fiber_that_reads_what_it_has_freed) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    counter left;
    nopal::spawn(left, [] {
      auto p = std::make_unique<int>(1);
      freed = p.get();
      nopal::yield();
      p.reset();
      if (*freed == 12345) std::abort();
    });
    nopal::wait_for(left);
  });
}

TEST(valgrind, reports_nothing_that_is_not_there) {
  if (!can_run()) GTEST_SKIP() << "Valgrind or its headers are not installed, or a sanitizer is on";
  EXPECT_EQ(exit_of_memcheck_on("under_valgrind.*whatever_switches"), 0);
}

TEST(valgrind, reports_what_is_there) {
  if (!can_run()) GTEST_SKIP() << "Valgrind or its headers are not installed, or a sanitizer is on";
  EXPECT_EQ(exit_of_memcheck_on("under_valgrind.*has_not_written"), reported);
  EXPECT_EQ(exit_of_memcheck_on("under_valgrind.*has_freed"), reported);
}

}  // namespace
