#include "../../runtimes/tbb.hpp"
#include "mergesort.hpp"

namespace {

void sort(bench::mergesort_problem& problem, bench::mergesort_problem::range some) {
  if (some.count < problem.serial_below) return problem.sort_serially(some);
  oneapi::tbb::task_group group;
  group.run([&] { sort(problem, some.left()); });
  group.run_and_wait([&] { sort(problem, some.right()); });
  problem.merge(some);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::mergesort_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { sort(problem, problem.all()); }); });
}
