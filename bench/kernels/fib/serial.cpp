#include "../../runtimes/serial.hpp"
#include "fib.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  const long a = fib(n - 1);
  const long b = fib(n - 2);
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::serial_runtime>(argc, argv, "serial",
                                                               [](auto&, auto& problem) { problem.answer = fib(problem.n); });
}
