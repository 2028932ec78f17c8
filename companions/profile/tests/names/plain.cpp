// Forks of each kind, compiled without NOPAL_PROFILE. check.cmake looks at the symbols of its object.

#include <functional>

#include "nopal/nopal.hpp"

#if NOPAL_PROFILES
#error "this file is compiled without NOPAL_PROFILE"
#endif

long plain_fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = plain_fib(n - 1); }, [&] { b = plain_fib(n - 2); });
  return a + b;
}

static nopal::task<long> task_fib(int n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, task_fib, n - 1);
  co_await nopal::call(&b, task_fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}
long plain_tasks(int n) { return nopal::sync_wait(task_fib, n); }

void plain_fiber(std::function<void()> const& f) {
  nopal::counter left;
  nopal::spawn(left, f);
  nopal::wait_for(left);
}
