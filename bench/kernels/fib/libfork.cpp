#include "../../runtimes/libfork.hpp"
#include "fib.hpp"

namespace {

constexpr auto fib = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fib_problem, bench::libfork_runtime>(
      argc, argv, "libfork", [](auto& on, auto& problem) { problem.answer = lf::sync_wait(on.pool, fib, problem.n); });
}
