#include "knapsack.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<void> pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) co_return;
  co_await nopal::fork(pack, problem, problem.with_next(k));
  co_await nopal::call(pack, problem, problem.without_next(k));
  co_await nopal::join;
}
#else
void pack(bench::knapsack_problem& problem, bench::knapsack k) {
  if (problem.is_end(k)) return;
  bench::invoker invoke;
  // The branch that is likelier to find a good solution runs first; oneTBB calls the last one first.
#if defined(NOPAL_BENCH_TBB)
  invoke([&] { pack(problem, problem.without_next(k)); }, [&] { pack(problem, problem.with_next(k)); });
#else
  invoke([&] { pack(problem, problem.with_next(k)); }, [&] { pack(problem, problem.without_next(k)); });
#endif
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::knapsack_problem>(argc, argv, [](auto& on, auto& problem) { on.run(pack, problem, problem.empty()); });
}
