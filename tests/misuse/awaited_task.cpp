// expect: nopal: a task is not awaited directly. Write co_await nopal::call(f, args...) instead of co_await f(args...).
#include <nopal/nopal.hpp>

nopal::task<int> child(int n) { co_return n; }
nopal::task<int> parent() { co_return co_await child(1); }
