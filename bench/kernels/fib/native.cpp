#include "../../runtimes/nopal.hpp"
#include "fib.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::nopal_runtime>(
      argc, argv, "native", [](auto& on, auto& problem) { problem.answer = on.pool.run(fib, problem.n); });
}
