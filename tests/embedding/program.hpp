#pragma once

// What the children of these tests do with pools, and how they must end.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "../fib.hpp"
#include "child.hpp"
#include "nopal/nopal.hpp"

namespace test {

using native::fib;

/// Ends the process unless `right`.
inline void check(bool right, char const* what) {
  if (right) return;
  say(what);
  std::_Exit(98);
}

/// Gives the default pool work of each kind, and waits for it.
inline void must_use_default_pool() {
  bool right = fib(15) == 610 && nopal::sync_wait(fib_task, 15L) == 610 && nopal::default_pool().submit(fib, 15L).get() == 610;
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
