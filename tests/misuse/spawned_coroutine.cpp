// expect: nopal: a fiber is an ordinary function. Write spawn([=] { nopal::sync_wait(f, a); })
#include <nopal/nopal.hpp>

nopal::task<long> fib(long n);

void parent() {
  nopal::spawn([] { return fib(10); });
}
