// The smallest task: two children, one join.
// Work Θ(φⁿ), span Θ(n).

#include <nopal/nopal.hpp>

#include <cstdio>

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

int main() {
  nopal::pool pool;
  long const result = pool.run(fib, 30);
  std::printf("fib(30) = %ld on %u workers\n", result, pool.workers());
  return result == 832040 ? 0 : 1;
}
