#include "../../runtimes/taskflow.hpp"
#include "fib.hpp"

namespace {

long fib(tf::Executor& executor, long n) {
  if (n < 2) return n;
  long a = 0;
  tf::TaskGroup group = executor.task_group();
  group.silent_async([&executor, &a, n] { a = fib(executor, n - 1); });
  const long b = fib(executor, n - 2);
  group.corun();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::taskflow_runtime>(
      argc, argv, "taskflow", [](auto& on, auto& problem) { on.run([&] { problem.answer = fib(on.executor, problem.n); }); });
}
