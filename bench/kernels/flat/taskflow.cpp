#include "../../runtimes/taskflow.hpp"
#include "flat.hpp"

namespace {

void loop(tf::Executor& executor, std::span<std::uint32_t> results) {
  tf::TaskGroup group = executor.task_group();
  for (std::uint32_t i = 0; i < results.size(); ++i)
    group.silent_async([&result = results[i], i] { result = bench::flat_problem::value(i); });
  group.corun();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::flat_problem, bench::taskflow_runtime>(
      argc, argv, "taskflow", [](auto& on, auto& problem) { on.run([&] { loop(on.executor, problem.results); }); });
}
