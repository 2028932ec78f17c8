#pragma once

// The programs that print times: each line a thing to do, serially, by the library's own threads and on nopal.
//
//     nopal_NAME_times [WORKERS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <nopal/nopal.hpp>

namespace test {

inline unsigned workers_of(int argc, char** argv) {
  return argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency();
}
inline void print_head(unsigned workers, char const* own) {
  std::printf("%u workers; ms, medians of 9\n%-40s %10s %10s %10s\n", workers, "", "serial", own, "nopal");
}
inline void print(char const* what, double serial, double own, double nopal) {
  std::printf("%-40s %10.1f %10.1f %10.1f\n", what, serial, own, nopal);
}

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

/// The same of f(0) to f(3): one after the other, each on a thread of its own, or on the pool.
template <class F>
double median_ms_of_four(F const& f) {
  return median_ms([&] {
    for (int k = 0; k < 4; ++k) f(k);
  });
}
template <class F>
double median_ms_of_four_threads(F const& f) {
  return median_ms([&] {
    std::vector<std::thread> all;
    for (int k = 0; k < 4; ++k) all.emplace_back([&, k] { f(k); });
    for (auto& t : all) t.join();
  });
}
template <class F>
double median_ms_of_four_on(nopal::pool& pool, F const& f) {
  return median_ms([&] { pool.run([&] { nopal::parallel_for(0, 4, f, nopal::grain{1}); }); });
}

}  // namespace test
