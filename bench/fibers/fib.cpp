#include "fib.hpp"

#include "../runtimes/runtime.hpp"

namespace {

long fib(const bench::fib_of_fibers& problem, long n) {
  if (n < problem.serial_below) return problem.leaf(n);
  long a = 0;
  long b = 0;
  bench::group left;
  left.fork([&] { a = fib(problem, n - 1); });
  left.fork_and_join([&] { b = fib(problem, n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::fib_of_fibers>(
      argc, argv, [](auto& on, auto& problem) { problem.answer = on.run([&] { return fib(problem, problem.n); }); });
}
