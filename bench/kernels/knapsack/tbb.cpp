#include "../../runtimes/tbb.hpp"

#include "knapsack.hpp"

namespace {

void pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) return;
  tbb::task_group group;
  // The inline branch runs first: the one that is likelier to find a good solution.
  group.run([&] { pack(problem, problem.without_next(k)); });
  pack(problem, problem.with_next(k));
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::knapsack_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { pack(problem, problem.empty()); }); });
}
