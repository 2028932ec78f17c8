// A program outside nopal's tree.
#include <cstdio>

#include <nopal/nopal.hpp>

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

int main() {
  nopal::pool pool{{.workers = 2}};
  const long result = pool.run(fib, 20);
  std::printf("fib(20) = %ld\n", result);
  return result == 6765 ? 0 : 1;
}
