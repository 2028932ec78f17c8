#include "heat.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<void> step(bench::heat_problem& problem, std::size_t first, std::size_t last) {
  if (last - first <= bench::heat_problem::strip) {
    problem.step(first, last);
    co_return;
  }
  const std::size_t middle = first + (last - first) / 2;
  co_await nopal::fork(step, problem, first, middle);
  co_await nopal::call(step, problem, middle, last);
  co_await nopal::join;
}

nopal::task<void> heat(bench::heat_problem& problem) {
  for (std::size_t i = 0; i < problem.steps; ++i) {
    co_await nopal::call(step, problem, problem.first_row(), problem.last_row());
    problem.next();
  }
}
#else
void step(bench::heat_problem& problem, std::size_t first, std::size_t last) {
  if (last - first <= bench::heat_problem::strip) return problem.step(first, last);
  const std::size_t middle = first + (last - first) / 2;
  bench::invoker invoke;
  invoke([&] { step(problem, first, middle); }, [&] { step(problem, middle, last); });
}

void heat(bench::heat_problem& problem) {
  for (std::size_t i = 0; i < problem.steps; ++i) {
    step(problem, problem.first_row(), problem.last_row());
    problem.next();
  }
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::heat_problem>(argc, argv, [](auto& on, auto& problem) { on.run(heat, problem); });
}
