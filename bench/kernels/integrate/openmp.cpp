#include "../../runtimes/openmp.hpp"
#include "integrate.hpp"

namespace {

double integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
#pragma omp task shared(a, x1, y1, at)
  a = integrate(x1, y1, at.x, at.y, at.left);
  const double b = integrate(at.x, at.y, x2, y2, at.right);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    problem.answer = problem.whole(integrate);
  });
}
