#include "../../runtimes/serial.hpp"
#include "fib.hpp"

namespace {

long fib(const bench::fib_of_fibers& problem, long n) {
  if (n < problem.serial_below) return problem.leaf(n);
  return fib(problem, n - 1) + fib(problem, n - 2);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_of_fibers, bench::serial_runtime>(argc, argv, "serial",
                                                                 [](auto&, auto& problem) { problem.answer = fib(problem, problem.n); });
}
