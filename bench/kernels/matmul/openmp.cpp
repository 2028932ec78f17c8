#include "../../runtimes/openmp.hpp"
#include "matmul.hpp"

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    multiply(problem, problem.whole());
  });
}
