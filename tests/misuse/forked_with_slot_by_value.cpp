// expect: nopal: a slot is given by its address. Write fork(&x, f, a) for fork(x, f, a).
#include <nopal/nopal.hpp>

nopal::task<int> child(int n);
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(n, child, 1);
  co_await nopal::join;
}
