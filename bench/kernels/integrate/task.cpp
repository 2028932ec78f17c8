#include "../../runtimes/nopal.hpp"
#include "integrate.hpp"

namespace {

nopal::task<double> integrate(bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) co_return half.left.area + half.right.area;
  double a = 0;
  double b = 0;
  co_await nopal::fork(&a, integrate, half.left);
  co_await nopal::call(&b, integrate, half.right);
  co_await nopal::join;
  co_return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { problem.answer = on.pool.run(integrate, problem.whole()); });
}
