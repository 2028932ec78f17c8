#include "../../runtimes/nopal.hpp"
#include "fib.hpp"

namespace {

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { problem.answer = on.pool.run(fib, problem.n); });
}
