#include "../../runtimes/nopal.hpp"
#include "integrate.hpp"

namespace {

nopal::task<double> integrate(double x1, double y1, double x2, double y2, double area) {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) co_return at.left + at.right;
  double a = 0;
  double b = 0;
  co_await nopal::fork(&a, integrate, x1, y1, at.x, at.y, at.left);
  co_await nopal::call(&b, integrate, at.x, at.y, x2, y2, at.right);
  co_await nopal::join;
  co_return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::nopal_runtime>(argc, argv, "task", [](auto& on, auto& problem) {
    problem.answer = problem.whole([&](auto... interval) { return on.pool.run(integrate, interval...); });
  });
}
