#include "fib.hpp"

#include "../runtimes/runtime.hpp"

#if defined(NOPAL_BENCH_C)
extern "C" long bench_fib_in_c(long n);  // fib.c
#endif

namespace {

#if defined(NOPAL_BENCH_C)
constexpr auto& fib = bench_fib_in_c;
#elif defined(NOPAL_BENCH_TASK)
nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto fib = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};
#elif defined(NOPAL_BENCH_OPENMP)
long fib(long n) {
  if (n < 2) return n;
  long a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const long b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
#elif defined(NOPAL_BENCH_NATIVE)
long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
#else
long fib(long n, auto&... on) {
  if (n < 2) return n;
  long a = 0;
  bench::group children{on...};
  children.fork([&a, n, &on...] { a = fib(n - 1, on...); });
  const long b = fib(n - 2, on...);
  children.join();
  return a + b;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::fib_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_COROUTINES) || defined(NOPAL_BENCH_C)
    problem.answer = on.run(fib, problem.n);
#else
    on.run([&](auto&... more) { problem.answer = fib(problem.n, more...); });
#endif
  });
}
