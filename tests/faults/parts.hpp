#pragma once

// Shared by the programs of several scenarios.

#include <chrono>
#include <exception>
#include <thread>

#include "../scale.hpp"
#include "nopal/nopal.hpp"

namespace test::faults {

/// Waits until f(), or for a moment: so that others arrive, but nothing hangs if they cannot.
template <class F>
void for_a_moment(F f) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds{sanitized ? 2000 : 300};
  while (!f() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

inline nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

inline long native_fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = native_fib(n - 1); }, [&] { b = native_fib(n - 2); });
  return a + b;
}

/// Spawns `n` on the counter, as far as possible, and waits for them.
template <class F>
void spawns_and_waits(nopal::counter& left, int n, F f) {
  std::exception_ptr error;
  try {
    for (int k = 0; k < n; ++k) nopal::spawn(left, f);
  } catch (...) {
    error = std::current_exception();
  }
  try {
    nopal::wait_for(left);
  } catch (...) {
    if (error == nullptr) error = std::current_exception();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace test::faults
