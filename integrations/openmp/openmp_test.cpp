// The recipe of README.md: regions of OpenMP inside nopal's loops have one thread.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include <nopal/nopal.hpp>

#include "region.hpp"

namespace {

/// The most threads that a region had in a loop on `pool`, by the workers' own threads.
int most_threads(nopal::pool& pool) {
  std::atomic<int> most{0};
  pool.submit([&] {
        nopal::parallel_for(
            0, 32,
            [&](int) {
              std::vector<double> x(1000, 1.0);
              int const n = test::relax(x, 3);
              for (int seen = most; seen < n && !most.compare_exchange_weak(seen, n);) {
              }
            },
            nopal::grain{1});
      })
      .get();
  return most;
}

TEST(openmp, has_one_thread_in_each_region_of_a_worker) {
  omp_set_num_threads(3);
  omp_set_dynamic(0);
  nopal::pool as_it_is{{.workers = 2}};
  EXPECT_GT(most_threads(as_it_is), 1);  // OpenMP brings threads of its own for each worker
  for (unsigned const workers : {1u, 2u, 3u}) {
    nopal::pool pool{test::one_thread_for_openmp(workers)};
    EXPECT_EQ(most_threads(pool), 1);
  }
}

// The thread that calls pool::run works in the place of a worker, and has its own setting: unaltered, unless it says so itself.
TEST(openmp, leaves_the_other_threads_as_they_are) {
  omp_set_num_threads(3);
  omp_set_dynamic(0);
  nopal::pool pool{test::one_thread_for_openmp(2)};
  EXPECT_EQ(most_threads(pool), 1);
  std::vector<double> x(1000, 1.0);
  EXPECT_EQ(test::relax(x, 3), 3);
}

}  // namespace
