#include "../../runtimes/nopal.hpp"
#include "fib.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  nopal::scope s;
  s.fork([&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  s.join();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::nopal_runtime>(
      argc, argv, "scope", [](auto& on, auto& problem) { problem.answer = on.pool.run(fib, problem.n); });
}
