// std::sort, and std::stable_sort.

#include <algorithm>

#include "../runtimes/serial.hpp"
#include "sort.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::sort_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) {
    problem.with_values([](auto& v) {
#if defined(NOPAL_BENCH_STABLE)
      std::stable_sort(v.begin(), v.end());
#else
      std::sort(v.begin(), v.end());
#endif
    });
  });
}
