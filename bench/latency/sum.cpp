#include "latency.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<std::uint64_t> sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) co_return 0;
  if (leaves.single()) co_return job.leaf(leaves.first);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  co_await nopal::fork(&left, sum, job, leaves.left());
  co_await nopal::call(&right, sum, job, leaves.right());
  co_await nopal::join;
  co_return left + right;
}
#elif defined(NOPAL_BENCH_OPENMP)
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
#else
std::uint64_t sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) return 0;
  if (leaves.single()) return job.leaf(leaves.first);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  bench::invoker invoke;
  invoke([&] { left = sum(job, leaves.left()); }, [&] { right = sum(job, leaves.right()); });
  return left + right;
}
#endif

#if defined(NOPAL_BENCH_UNPINNED)
// A pool without pinned workers. They sleep, and wake on any CPU that the system chooses, as oneTBB's do; or they keep searching, as
// OpenMP's do for a while.
struct runtime {
  explicit runtime(unsigned workers) : pool{{.workers = workers, .idle = nopal::idle::NOPAL_BENCH_UNPINNED, .pin = false}} {}
  static std::string version() { return bench::nopal_runtime::version(); }
  decltype(auto) run(auto&& f, auto&&... a) { return pool.run(f, a...); }
  nopal::pool pool;
};
#else
using bench::runtime;
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_latency<runtime>(argc, argv, NOPAL_BENCH_IMPL,
                                     [](auto& on, const auto& job, auto leaves) { return on.run(sum, job, leaves); });
}
