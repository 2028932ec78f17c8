#include <atomic>
#include <vector>

#include "nqueens.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_SERIAL)
long nqueens(auto& /*on*/, bench::nqueens_by_prefix& problem) {
  long sum = 0;
  problem.each_prefix([&](const auto& queens) { sum += problem.solutions(queens); });
  return sum;
}
#elif defined(NOPAL_BENCH_THREADS)
long nqueens(const bench::threads_runtime& on, bench::nqueens_by_prefix& problem) {
  std::vector<bench::nqueens_by_prefix::prefix> prefixes;
  problem.each_prefix([&](const auto& queens) { prefixes.push_back(queens); });
  std::atomic<long> sum{0};
  on.split(prefixes.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) sum.fetch_add(problem.solutions(prefixes[i]), std::memory_order_relaxed);
  });
  return sum.load(std::memory_order_relaxed);
}
#else
long nqueens(auto& on, bench::nqueens_by_prefix& problem) {
  return on.run([&] {
    std::atomic<long> sum{0};
    bench::group left;
    problem.each_prefix([&](const auto& queens) {
      left.fork([&problem, &sum, queens] { sum.fetch_add(problem.solutions(queens), std::memory_order_relaxed); });
    });
    left.join();
    return sum.load(std::memory_order_relaxed);
  });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::nqueens_by_prefix>(argc, argv, [](auto& on, auto& problem) { problem.answer = nqueens(on, problem); });
}
