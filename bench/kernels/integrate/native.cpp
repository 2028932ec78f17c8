#include "../../runtimes/nopal.hpp"
#include "integrate.hpp"

namespace {

double integrate(bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) return half.left.area + half.right.area;
  double a = 0;
  double b = 0;
  nopal::parallel_invoke([&] { a = integrate(half.left); }, [&] { b = integrate(half.right); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::nopal_runtime>(
      argc, argv, "native", [](auto& on, auto& problem) { problem.answer = on.pool.run(integrate, problem.whole()); });
}
