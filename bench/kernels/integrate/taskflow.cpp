#include "../../runtimes/taskflow.hpp"
#include "integrate.hpp"

namespace {

double integrate(tf::Executor& executor, bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) return half.left.area + half.right.area;
  double a = 0;
  tf::TaskGroup group = executor.task_group();
  group.silent_async([&executor, &a, left = half.left] { a = integrate(executor, left); });
  const double b = integrate(executor, half.right);
  group.corun();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::taskflow_runtime>(argc, argv, "taskflow", [](auto& on, auto& problem) {
    on.run([&] { problem.answer = integrate(on.executor, problem.whole()); });
  });
}
