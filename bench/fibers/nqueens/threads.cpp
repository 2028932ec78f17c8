#include <atomic>
#include <vector>

#include "../../runtimes/threads.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(const bench::threads_runtime& on, bench::nqueens_by_prefix& problem) {
  std::vector<bench::nqueens_by_prefix::prefix> prefixes;
  problem.each_prefix([&](const auto& queens) { prefixes.push_back(queens); });
  std::atomic<long> sum{0};
  on.split(prefixes.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) sum.fetch_add(problem.solutions(prefixes[i]), std::memory_order_relaxed);
  });
  return sum.load(std::memory_order_relaxed);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_by_prefix, bench::threads_runtime>(
      argc, argv, "threads", [](auto& on, auto& problem) { problem.answer = nqueens(on, problem); });
}
