// expect: nopal: here the function is called, and its task is given.
#include <nopal/nopal.hpp>

nopal::task<int> child(int n);
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child(1));
  co_await nopal::join;
}
