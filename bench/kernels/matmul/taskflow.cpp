#include "../../runtimes/taskflow.hpp"
#include "matmul.hpp"

namespace {

void multiply(tf::Executor& executor, bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& part : at.steps()) {
    tf::TaskGroup group = executor.task_group();
    group.silent_async([&] { multiply(executor, problem, part[0]); });
    group.silent_async([&] { multiply(executor, problem, part[1]); });
    group.silent_async([&] { multiply(executor, problem, part[2]); });
    multiply(executor, problem, part[3]);
    group.corun();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::taskflow_runtime>(
      argc, argv, "taskflow", [](auto& on, auto& problem) { on.run([&] { multiply(on.executor, problem, problem.whole()); }); });
}
