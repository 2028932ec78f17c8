#include "../../runtimes/nopal.hpp"
#include "fib.hpp"

namespace {

long fib(const bench::fib_of_fibers& problem, long n) {
  if (n < problem.serial_below) return problem.leaf(n);
  long a = 0;
  long b = 0;
  nopal::counter left;
  nopal::spawn(left, [&] { a = fib(problem, n - 1); });
  nopal::spawn(left, [&] { b = fib(problem, n - 2); });
  nopal::wait_for(left);
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_of_fibers, bench::nopal_runtime>(
      argc, argv, "fiber", [](auto& on, auto& problem) { problem.answer = on.pool.run([&] { return fib(problem, problem.n); }); });
}
