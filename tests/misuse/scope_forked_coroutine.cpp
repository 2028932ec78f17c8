// expect: nopal: scope::fork runs ordinary functions. Write s.fork([&] { x = nopal::sync_wait(f, a); })
#include <nopal/nopal.hpp>

nopal::task<long> fib(long n);

void parent() {
  nopal::scope s;
  s.fork([] { return fib(10); });
}
