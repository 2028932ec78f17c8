#include "../../runtimes/tbb.hpp"

#include "integrate.hpp"

namespace {

double integrate(bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) return half.left.area + half.right.area;
  double a = 0;
  tbb::task_group group;
  group.run([&a, left = half.left] { a = integrate(left); });
  const double b = integrate(half.right);
  group.wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::tbb_runtime>(argc, argv, "tbb", [](auto& on, auto& problem) {
    on.arena.execute([&] { problem.answer = integrate(problem.whole()); });
  });
}
