#pragma once

// The Fibonacci numbers, by each way to fork.

#include "nopal/native.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace test {

/// Of an ordinary function, by parallel_invoke.
namespace native {
inline long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
}  // namespace native

/// Of an ordinary function, by a scope.
namespace scoped {
inline long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  nopal::scope s;
  s.fork([&a, n] { a = fib(n - 1); });
  long const b = fib(n - 2);
  s.join();
  return a + b;
}
}  // namespace scoped

inline nopal::task<long> fib_task(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib_task, n - 1);
  co_await nopal::call(&b, fib_task, n - 2);
  co_await nopal::join;
  co_return a + b;
}

}  // namespace test
