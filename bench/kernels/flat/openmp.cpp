#include "../../runtimes/openmp.hpp"
#include "flat.hpp"

namespace {

void loop(std::span<std::uint32_t> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) {
#pragma omp task firstprivate(results, i)
    results[i] = bench::flat_problem::value(i);
  }
#pragma omp taskwait
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, auto& problem) {
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    loop(problem.results);
  });
}
