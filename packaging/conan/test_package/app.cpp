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
  long const result = nopal::pool{}.run(fib, 20);
  std::printf("nopal %s: fib(20) = %ld\n", NOPAL_VERSION_STRING, result);
  return result == 6765 && nopal::version() == NOPAL_VERSION ? 0 : 1;
}
