#include "../../runtimes/nopal.hpp"
#include "knapsack.hpp"

namespace {

nopal::task<void> pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) co_return;
  co_await nopal::fork(pack, problem, problem.with_next(k));
  co_await nopal::call(pack, problem, problem.without_next(k));
  co_await nopal::join;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::knapsack_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(pack, problem, problem.empty()); });
}
