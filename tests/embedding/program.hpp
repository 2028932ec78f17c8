#pragma once

// What the children of these tests do with pools, and how they must end.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "child.hpp"
#include "nopal/nopal.hpp"

namespace test {

inline long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
inline nopal::task<long> task_fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, task_fib, n - 1);
  co_await nopal::call(&b, task_fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

/// Ends the process unless right.
inline void check(bool right, char const* what) {
  if (right) return;
  say(what);
  std::_Exit(98);
}

/// Gives the default pool work of each kind, and waits for it.
inline void must_use_default_pool() {
  bool right = fib(15) == 610 && nopal::sync_wait(task_fib, 15L) == 610 && nopal::default_pool().submit(fib, 15L).get() == 610;
  nopal::counter left;
  nopal::spawn(left, [] { nopal::yield(); });
  nopal::wait_for(left);
  std::atomic<int> children = 0;
  nopal::scope s;
  for (int k = 0; k < 3; ++k) s.fork([&] { ++children; });
  s.join();
  right = right && children == 3;
  if (!right) std::_Exit(99);
}

inline void expect_exit(ended const& e, int code, char const* said) {
  EXPECT_EQ(e.code, code) << "signal " << e.signal << ", said: " << e.said;
  EXPECT_NE(e.said.find(said), std::string::npos) << e.said;
}

inline void expect_success(ended const& e) { EXPECT_EQ(e.code, 0) << "signal " << e.signal << ", said: " << e.said; }

}  // namespace test
