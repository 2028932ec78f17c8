// expect: nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary function as it is
#include <nopal/nopal.hpp>

int child(int n) { return n; }
nopal::task<int> parent() { co_return co_await nopal::call(child, 1); }
