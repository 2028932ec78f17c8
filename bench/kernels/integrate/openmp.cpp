#include "../../runtimes/openmp.hpp"
#include "integrate.hpp"

namespace {

double integrate(bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) return half.left.area + half.right.area;
  double a = 0;
#pragma omp task shared(a, half)
  a = integrate(half.left);
  const double b = integrate(half.right);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    problem.answer = integrate(problem.whole());
  });
}
