#include "../../runtimes/serial.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(bench::board queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) parts[column] = nqueens(queens.with(column));
  return queens.sum(parts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                   [](auto&, auto& problem) { problem.answer = nqueens(problem.empty()); });
}
