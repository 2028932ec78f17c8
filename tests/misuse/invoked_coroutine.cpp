// expect: nopal: parallel_invoke calls ordinary functions. Write [&] { x = nopal::sync_wait(f, a); }
#include <nopal/nopal.hpp>

nopal::task<long> fib(long n);

void parent() {
  nopal::parallel_invoke([] {}, [] { return fib(10); });
}
