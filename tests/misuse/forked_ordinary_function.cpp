// expect: nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary function as it is
#include <nopal/nopal.hpp>

int child(int n) { return n; }
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child, 1);
  co_await nopal::join;
}
