#include "../../runtimes/taskflow.hpp"
#include "integrate.hpp"

namespace {

double integrate(tf::Executor& executor, double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
  tf::TaskGroup group = executor.task_group();
  group.silent_async([&executor, &a, x1, y1, at] { a = integrate(executor, x1, y1, at.x, at.y, at.left); });
  const double b = integrate(executor, at.x, at.y, x2, y2, at.right);
  group.corun();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::taskflow_runtime>(argc, argv, "taskflow", [](auto& on, auto& problem) {
    on.run([&] { problem.answer = problem.whole([&](auto... interval) { return integrate(on.executor, interval...); }); });
  });
}
