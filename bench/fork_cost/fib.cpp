// What `fork_cost.py` counts: fib(n) on one worker, and nothing else that runs long.
#include <cstdio>
#include <cstdlib>
#include <nopal/nopal.hpp>

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

int main(int argc, char** argv) {
  nopal::pool pool{{.workers = 1, .pin = false}};
  std::printf("%ld\n", pool.run(fib, argc > 1 ? std::atol(argv[1]) : 20L));
}
