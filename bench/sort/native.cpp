// nopal::sort, and nopal::stable_sort.

#include "../runtimes/nopal.hpp"
#include "nopal/algorithm/sort.hpp"
#include "sort.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::sort_problem, bench::nopal_runtime>(argc, argv, "native", [](auto& on, auto& problem) {
    on.pool.run([&] {
      problem.with_values([](auto& v) {
#if defined(NOPAL_BENCH_STABLE)
        nopal::stable_sort(v);
#else
        nopal::sort(v);
#endif
      });
    });
  });
}
