#include "../../runtimes/tbb.hpp"

#include "integrate.hpp"

namespace {

double integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
  tbb::task_group group;
  group.run([&a, x1, y1, at] { a = integrate(x1, y1, at.x, at.y, at.left); });
  const double b = integrate(at.x, at.y, x2, y2, at.right);
  group.wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { problem.answer = problem.whole(integrate); }); });
}
