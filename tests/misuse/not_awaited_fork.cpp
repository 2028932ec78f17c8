// expect: nopal: nothing starts without co_await. Write co_await nopal::fork(...)
#include <nopal/nopal.hpp>

#pragma GCC diagnostic error "-Wunused-result"

nopal::task<int> child(int n);
nopal::task<int> parent() {
  int n = 0;
  nopal::fork(&n, child, 1);
  co_await nopal::join;
  co_return n;
}
