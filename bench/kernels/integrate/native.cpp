#include "../../runtimes/nopal_invoke.hpp"
#include "integrate.hpp"

namespace {

double integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) return at.left + at.right;
  double a = 0;
  double b = 0;
  bench::invoke([&] { a = integrate(x1, y1, at.x, at.y, at.left); }, [&] { b = integrate(at.x, at.y, x2, y2, at.right); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::nopal_runtime>(argc, argv, bench::invoke_name, [](auto& on, auto& problem) {
    problem.answer = problem.whole([&](auto... interval) { return on.pool.run(integrate, interval...); });
  });
}
