#include "matmul.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<void> multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) {
    problem.multiply(at);
    co_return;
  }
  for (const auto& part : at.steps()) {
    co_await nopal::fork(multiply, problem, part[0]);
    co_await nopal::fork(multiply, problem, part[1]);
    co_await nopal::fork(multiply, problem, part[2]);
    co_await nopal::call(multiply, problem, part[3]);
    co_await nopal::join;
  }
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto multiply = [](auto self, bench::matmul_problem* problem, bench::cube at) -> lf::task<> {
  if (at.size == 1) {
    problem->multiply(at);
    co_return;
  }
  for (const auto& part : at.steps()) {
    co_await lf::fork(self)(problem, part[0]);
    co_await lf::fork(self)(problem, part[1]);
    co_await lf::fork(self)(problem, part[2]);
    co_await lf::call(self)(problem, part[3]);
    co_await lf::join;
  }
};
#elif defined(NOPAL_BENCH_OPENMP)
void multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& part : at.steps()) {
#pragma omp task shared(problem, part)
    multiply(problem, part[0]);
#pragma omp task shared(problem, part)
    multiply(problem, part[1]);
#pragma omp task shared(problem, part)
    multiply(problem, part[2]);
    multiply(problem, part[3]);
#pragma omp taskwait
  }
}
#else
void multiply(bench::matmul_problem& problem, bench::cube at, auto&... on) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& part : at.steps()) {
    bench::invoker invoke{on...};
    invoke([&] { multiply(problem, part[0], on...); }, [&] { multiply(problem, part[1], on...); },
           [&] { multiply(problem, part[2], on...); }, [&] { multiply(problem, part[3], on...); });
  }
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::matmul_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_TASK)
    on.run(multiply, problem, problem.whole());
#elif defined(NOPAL_BENCH_LIBFORK)
    on.run(multiply, &problem, problem.whole());
#else
    on.run([&](auto&... more) { multiply(problem, problem.whole(), more...); });
#endif
  });
}
