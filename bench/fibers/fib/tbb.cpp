#include "../../runtimes/tbb.hpp"
#include "fib.hpp"

namespace {

long fib(const bench::fib_of_fibers& problem, long n) {
  if (n < problem.serial_below) return problem.leaf(n);
  long a = 0;
  long b = 0;
  oneapi::tbb::task_group group;
  group.run([&] { a = fib(problem, n - 1); });
  group.run_and_wait([&] { b = fib(problem, n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_of_fibers, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { problem.answer = fib(problem, problem.n); }); });
}
