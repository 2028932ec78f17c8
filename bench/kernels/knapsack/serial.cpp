#include "../../runtimes/serial.hpp"
#include "knapsack.hpp"

namespace {

void pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) return;
  pack(problem, problem.with_next(k));
  pack(problem, problem.without_next(k));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::knapsack_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                    [](auto&, auto& problem) { pack(problem, problem.empty()); });
}
