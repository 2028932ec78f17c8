#include "../../runtimes/taskflow.hpp"
#include "submit.hpp"

int main(int argc, char** argv) {
  return bench::run<bench::submit_problem, bench::taskflow_runtime>(
      argc, argv, "taskflow", [](auto& on, auto& problem) { problem.submit([&on](auto job) { on.executor.silent_async(job); }); });
}
