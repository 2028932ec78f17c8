// Ordinary functions that fork, by parallel_invoke and in scopes.

#include <atomic>
#include <chrono>
#include <thread>

#include "nopal/nopal.hpp"
#include "parts.hpp"
#include "programs.hpp"

namespace test::faults {

using namespace std::chrono_literals;
using nopal::pool;

namespace {
/// Its halves wait for each other for a moment, so that the second is stolen and the join waits.
long handed_over(int depth) {
  if (depth == 0) return 1;
  std::atomic<bool> taken{false};
  long a = 0, b = 0;
  nopal::parallel_invoke(
      [&] {
        for_a_moment([&] { return taken.load(); });
        a = handed_over(depth - 1);
      },
      [&] {
        taken = true;
        if (depth > 1) std::this_thread::sleep_for(50us);
        b = handed_over(depth - 1);
      });
  return a + b;
}
}  // namespace

bool forks_natively(pool& p) { return p.run(native_fib, 12) == 144 && p.run(handed_over, 3) == 8; }

namespace {
long scope_fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::scope s;
  s.fork([&a, n] { a = scope_fib(n - 1); });
  s.fork([&b, n] { b = scope_fib(n - 2); });
  s.join();
  return a + b;
}
long scope_handed_over(int depth) {
  if (depth == 0) return 1;
  std::atomic<bool> taken{false};
  long a = 0;
  nopal::scope s;
  s.fork([&] {
    for_a_moment([&] { return taken.load(); });
    a = scope_handed_over(depth - 1);
  });
  taken = true;
  long const b = scope_handed_over(depth - 1);
  s.join();
  return a + b;
}
}  // namespace

bool forks_in_scopes(pool& p) { return p.run(scope_fib, 10) == 55 && p.run(scope_handed_over, 3) == 8; }

bool uses_the_default_pool(pool&) {
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = native_fib(8); }, [&] { b = native_fib(7); });
  long c = 0;
  {
    nopal::scope s;
    s.fork([&] { c = native_fib(6); });
    s.fork([] { native_fib(5); });
    s.join();
  }
  return a == 21 && b == 13 && c == 8 && nopal::sync_wait(fib, 10) == 55;
}

/// All of it, made, used and destroyed while calls fail.
bool comes_and_goes(pool&) {
  pool p{{.workers = 3}};
  return runs(p) && forks_natively(p);
}

}  // namespace test::faults
