#include "../../runtimes/nopal.hpp"
#include "fib.hpp"

extern "C" long bench_fib_in_c(long n);  // fib.c

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::nopal_runtime>(
      argc, argv, "c", [](auto& on, auto& problem) { problem.answer = on.pool.run(bench_fib_in_c, problem.n); });
}
