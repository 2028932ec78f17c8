#include "../../runtimes/libfork.hpp"
#include "integrate.hpp"

namespace {

constexpr auto integrate = [](auto self, double x1, double y1, double x2, double y2, double area) -> lf::task<double> {
  const bench::halves at{x1, y1, x2, y2, area};
  if (at.close) co_return at.left + at.right;
  double a = 0;
  double b = 0;
  co_await lf::fork(&a, self)(x1, y1, at.x, at.y, at.left);
  co_await lf::call(&b, self)(at.x, at.y, x2, y2, at.right);
  co_await lf::join;
  co_return a + b;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::libfork_runtime>(argc, argv, "libfork", [](auto& on, auto& problem) {
    problem.answer = problem.whole([&](auto... interval) { return lf::sync_wait(on.pool, integrate, interval...); });
  });
}
