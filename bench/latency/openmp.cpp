#include "../runtimes/openmp.hpp"

#include "latency.hpp"

namespace {

std::uint64_t sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) return 0;
  if (leaves.single()) return job.leaf(leaves.first);
  std::uint64_t left = 0;
#pragma omp task shared(left, job) firstprivate(leaves)
  left = sum(job, leaves.left());
  const std::uint64_t right = sum(job, leaves.right());
#pragma omp taskwait
  return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_latency<bench::openmp_runtime>(argc, argv, "openmp", [](auto& on, const auto& job, auto leaves) {
    std::uint64_t result = 0;
#pragma omp parallel num_threads(on.workers)
#pragma omp single
    result = sum(job, leaves);
    return result;
  });
}
