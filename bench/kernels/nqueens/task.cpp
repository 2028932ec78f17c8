#include "../../runtimes/nopal.hpp"
#include "nqueens.hpp"

namespace {

nopal::task<long> nqueens(bench::board queens) {
  if (queens.full()) co_return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) co_await nopal::fork(&parts[column], nqueens, queens.with(column));
  co_await nopal::join;
  co_return queens.sum(parts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { problem.answer = on.pool.run(nqueens, problem.empty()); });
}
