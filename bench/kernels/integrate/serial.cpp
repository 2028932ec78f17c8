#include "../../runtimes/serial.hpp"
#include "integrate.hpp"

namespace {

double integrate(bench::interval whole) {
  const bench::halves half{whole};
  if (half.close) return half.left.area + half.right.area;
  const double a = integrate(half.left);
  const double b = integrate(half.right);
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::integrate_problem, bench::serial_runtime>(
      argc, argv, "serial", [](auto&, auto& problem) { problem.answer = integrate(problem.whole()); });
}
