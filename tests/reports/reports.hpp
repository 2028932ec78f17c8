#pragma once

// Reports of pools, repeated until they contain what a test waits for.

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <thread>

#include "nopal/pool.hpp"

namespace test {

inline bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// The report, once it has all of `parts`, or after a time limit.
inline std::string report(nopal::pool const& pool, std::initializer_list<std::string> parts) {
  std::string text;
  for (int k = 0; k < 1000; ++k) {
    text = pool.report();
    bool all = true;
    for (std::string const& p : parts) all = all && has(text, p);
    if (all) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  for (std::string const& p : parts) EXPECT_TRUE(has(text, p)) << p << "\n" << text;
  return text;
}

}  // namespace test
