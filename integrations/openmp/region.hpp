#pragma once

// A library that uses OpenMP inside, as the test and the times call it.

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <nopal/pool.hpp>

namespace test {

/// Some steps over `x`, each a parallel region. Returns the largest number of threads that a region had.
inline int relax(std::vector<double>& x, int steps) {
  int threads = 0;
  auto const n = static_cast<std::ptrdiff_t>(x.size());
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for reduction(max : threads)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      double& v = x[static_cast<std::size_t>(i)];
      v = std::sqrt(v * v + 1.0);
      threads = std::max(threads, omp_get_num_threads());
    }
  }
  return threads;
}

/// A pool whose workers' own threads run each region of OpenMP alone.
inline nopal::pool_options one_thread_for_openmp(unsigned workers) {
  return {.workers = workers, .on_thread_start = [](unsigned) { omp_set_num_threads(1); }};
}

}  // namespace test
