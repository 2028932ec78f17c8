// expect: nopal: nothing starts without co_await. Write co_await nopal::call(...)
#include <nopal/nopal.hpp>

#pragma GCC diagnostic error "-Wunused-result"

nopal::task<int> child(int n);
nopal::task<int> parent() {
  nopal::call(child, 1);
  co_return 0;
}
