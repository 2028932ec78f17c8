// A program without a profile of its own: fib(15) on the default pool, and as fibers that main waits for.

#include <cstdlib>

#include "nopal/nopal.hpp"

static long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

int main() {
  long const x = nopal::default_pool().run(fib, 15);
  long y = 0;
  nopal::counter left;
  nopal::spawn(left, [&] { y = fib(15); });
  nopal::wait_for(left);
  return x == 610 && y == 610 ? EXIT_SUCCESS : EXIT_FAILURE;
}
