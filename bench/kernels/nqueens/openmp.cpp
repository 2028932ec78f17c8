#include "../../runtimes/openmp.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(const bench::board& queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column) {
    if (!queens.free(column)) continue;
    const bench::board next = queens.with(column);
#pragma omp task shared(parts) firstprivate(next, column)
    parts[column] = nqueens(next);
  }
#pragma omp taskwait
  return queens.sum(parts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    problem.answer = nqueens(problem.empty());
  });
}
