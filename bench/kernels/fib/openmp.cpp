#include "../../runtimes/openmp.hpp"
#include "fib.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const long b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    problem.answer = fib(problem.n);
  });
}
