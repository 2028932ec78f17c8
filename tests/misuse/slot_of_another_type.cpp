// expect: nopal: the slot must be a T* or a nopal::eventually<T>* for a function that returns nopal::task<T>.
#include <nopal/nopal.hpp>

nopal::task<long> child(long n) { co_return n; }
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child, 1L);
  co_await nopal::join;
}
