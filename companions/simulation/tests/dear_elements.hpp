#pragma once

// Elements that take a millisecond each, on 16 simulated workers, beside the standard library's algorithms.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <vector>

#include "simulated_pool.hpp"

inline std::atomic<int> done{0};

// Takes a millisecond.
inline void work() {
  done.fetch_add(1);
  nopal::simulate_work(std::chrono::milliseconds{1});
}
inline int projected(int x) {
  work();
  return x;
}
inline bool is_odd(int x) { return projected(x) % 2 == 1; }
inline bool slowly_less(int a, int b) { return projected(a) < b; }

inline std::vector<int> numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937 random{seed};
  std::vector<int> v(n);
  for (int& x : v) x = static_cast<int>(random() % 10'000);
  return v;
}

// The time of the standard library's algorithm divided by the time of ours on 16 workers.
template <class Theirs, class Ours>
double speed_up(Theirs theirs, Ours ours) {
  done = 0;
  theirs();
  int const serial = done;
  auto const r = given("16", "", ours);
  return static_cast<double>(serial) / std::chrono::duration<double, std::milli>(r.elapsed).count();
}

// Calls check(n, goal): goals for 64 elements and for 1024.
template <class Check>
void for_both(double few, double many, Check check) {
  check(std::size_t{64}, few);
  check(std::size_t{1024}, many);
}
