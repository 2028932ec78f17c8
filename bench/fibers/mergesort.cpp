#include "mergesort.hpp"

#include "../runtimes/runtime.hpp"

namespace {

void sort(bench::mergesort_problem& problem, bench::mergesort_problem::range some) {
#if defined(NOPAL_BENCH_SERIAL)
  problem.sort_serially(some);
#else
  if (some.count < problem.serial_below) return problem.sort_serially(some);
  bench::group left;
  left.fork([&] { sort(problem, some.left()); });
  left.fork_and_join([&] { sort(problem, some.right()); });
  problem.merge(some);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::mergesort_problem>(argc, argv,
                                                     [](auto& on, auto& problem) { on.run([&] { sort(problem, problem.all()); }); });
}
