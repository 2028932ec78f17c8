#include "../../runtimes/nopal.hpp"
#include "mergesort.hpp"

namespace {

void sort(bench::mergesort_problem& problem, bench::mergesort_problem::range some) {
  if (some.count < problem.serial_below) return problem.sort_serially(some);
  nopal::counter left;
  nopal::spawn(left, [&] { sort(problem, some.left()); });
  nopal::spawn(left, [&] { sort(problem, some.right()); });
  nopal::wait_for(left);
  problem.merge(some);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::mergesort_problem, bench::nopal_runtime>(
      argc, argv, "fiber", [](auto& on, auto& problem) { on.pool.run([&] { sort(problem, problem.all()); }); });
}
