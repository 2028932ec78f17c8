#include "../../runtimes/taskflow.hpp"
#include "nqueens.hpp"

namespace {

long nqueens(tf::Executor& executor, const bench::board& queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  tf::TaskGroup group = executor.task_group();
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column))
      group.silent_async([&executor, &part = parts[column], next = queens.with(column)] { part = nqueens(executor, next); });
  group.corun();
  return queens.sum(parts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::nqueens_problem, bench::taskflow_runtime>(
      argc, argv, "taskflow", [](auto& on, auto& problem) { on.run([&] { problem.answer = nqueens(on.executor, problem.empty()); }); });
}
