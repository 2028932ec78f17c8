// oneTBB's parallel_sort, which is not stable.

#include <oneapi/tbb/parallel_sort.h>

#include "../runtimes/tbb.hpp"
#include "sort.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::sort_problem, bench::tbb_runtime>(argc, argv, "tbb", [](auto& on, auto& problem) {
    on.arena.execute([&] { problem.with_values([](auto& v) { oneapi::tbb::parallel_sort(v.begin(), v.end()); }); });
  });
}
