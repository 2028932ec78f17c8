#include <atomic>

#include "../../runtimes/nopal.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(bench::nqueens_by_prefix& problem) {
  std::atomic<long> sum{0};
  nopal::counter left;
  problem.each_prefix([&](const auto& queens) {
    nopal::spawn(left, [&problem, &sum, queens] { sum.fetch_add(problem.solutions(queens), std::memory_order_relaxed); });
  });
  nopal::wait_for(left);
  return sum.load(std::memory_order_relaxed);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_by_prefix, bench::nopal_runtime>(
      argc, argv, "fiber", [](auto& on, auto& problem) { problem.answer = on.pool.run([&] { return nqueens(problem); }); });
}
