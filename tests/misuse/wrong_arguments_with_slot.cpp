// expect: nopal: the function cannot be called with these arguments.
#include <nopal/nopal.hpp>

nopal::task<int> child(int n) { co_return n; }
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child, 1, 2);
  co_await nopal::join;
}
