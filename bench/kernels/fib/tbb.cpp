#include "../../runtimes/tbb.hpp"

#include "fib.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  group.wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { problem.answer = fib(problem.n); }); });
}
