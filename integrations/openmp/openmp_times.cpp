// What a loop on nopal takes whose bodies call a library that uses OpenMP: with as many threads in each region as there are workers, and with one.

#include <algorithm>
#include <cstdio>

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "region.hpp"

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  omp_set_num_threads(static_cast<int>(workers));
  nopal::pool as_it_is{{.workers = workers}}, recipe{test::one_thread_for_openmp(workers)};
  std::printf("%u workers; ms, medians of 9\n%-40s %14s %14s %14s\n", workers, "", "OpenMP alone", "nopal, OpenMP", "the recipe");
  for (std::size_t const n : {std::size_t{1000}, std::size_t{10000}, std::size_t{100000}}) {
    std::vector<std::vector<double>> all(64, std::vector<double>(n, 1.0));
    auto const one = [&](int k) { test::relax(all[static_cast<std::size_t>(k)], 20); };
    auto const looped = [&](nopal::pool& pool) {
      return test::median_ms([&] { pool.submit([&] { nopal::parallel_for(0, 64, one, nopal::grain{1}); }).get(); });
    };
    double const alone = test::median_ms([&] {
      for (int k = 0; k < 64; ++k) one(k);
    });
    char what[80];
    std::snprintf(what, sizeof what, "64 times 20 regions of %zu", n);
    std::printf("%-40s %14.1f %14.1f %14.1f\n", what, alone, looped(as_it_is), looped(recipe));
  }
  return 0;
}
