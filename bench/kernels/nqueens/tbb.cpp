#include "../../runtimes/tbb.hpp"

#include "nqueens.hpp"

namespace {

long nqueens(const bench::board& queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  tbb::task_group group;
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) group.run([&part = parts[column], next = queens.with(column)] { part = nqueens(next); });
  group.wait();
  return queens.sum(parts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { problem.answer = nqueens(problem.empty()); }); });
}
