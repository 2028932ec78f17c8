#include "../../runtimes/nopal_invoke.hpp"
#include "knapsack.hpp"

namespace {

void pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) return;
  bench::invoke([&] { pack(problem, problem.with_next(k)); }, [&] { pack(problem, problem.without_next(k)); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::knapsack_problem, bench::nopal_runtime>(
      argc, argv, bench::invoke_name, [](auto& on, auto& problem) { on.pool.run([&] { pack(problem, problem.empty()); }); });
}
