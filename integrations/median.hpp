#pragma once

// How long something takes: for the programs that print times.

#include <algorithm>
#include <chrono>
#include <vector>

namespace test {

/// The median of nine calls, in milliseconds.
template <class F>
double median_ms(F const& f) {
  std::vector<double> all;
  for (int k = 0; k < 9; ++k) {
    auto const began = std::chrono::steady_clock::now();
    f();
    all.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
  }
  std::ranges::nth_element(all, all.begin() + 4);
  return all[4];
}

}  // namespace test
