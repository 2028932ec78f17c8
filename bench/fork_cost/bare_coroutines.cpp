// The cost of a compiler's coroutines by themselves: fib as coroutines with frames from a bump of one pointer, and nothing else. No
// scheduler, deque, thread-local, exception or check; only the fork suspends its parent, without which a thief could not resume it. A
// library of tasks does all this, and more: docs/fork-cost.md compares.
//
//   g++-12 -std=c++20 -O3 -march=native bench/fork_cost/bare_coroutines.cpp -o bare && ./bare
//   clang++-22 …
#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

alignas(16) std::byte arena[1 << 20];
std::byte* top = arena;
long* slot;

struct task {
  struct promise_type {
    long* const result = slot;

    static void* operator new(std::size_t n) {
      std::byte* const frame = top;
      top += (n + 15) & ~std::size_t{15};
      return frame;
    }
    static void operator delete(void* frame, std::size_t) { top = static_cast<std::byte*>(frame); }
    task get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { std::abort(); }
    void return_value(long value) noexcept { *result = value; }
  };
};

task fib(long n);

struct fork {
  long* to;
  long n;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) const {
    slot = to;
    fib(n);
    return false;  // the parent continues: there are no thieves
  }
  void await_resume() const noexcept {}
};

task fib(long n) {
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await fork{&a, n - 1};
  slot = &b;
  fib(n - 2);
  co_return a + b;
}

long serial(long n) {
  if (n < 2) return n;
  const long a = serial(n - 1);
  const long b = serial(n - 2);
  return a + b;
}

template <class F>
double fastest_of_five(F f) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 39;
  long expected = 0;
  long found = 0;
  const double function = fastest_of_five([&] {
    long opaque = n;
    asm volatile("" : "+r"(opaque));  // or it is computed once
    expected = serial(opaque);
    asm volatile("" : : "r"(expected));  // or later
  });
  const double coroutine = fastest_of_five([&] {
    slot = &found;
    fib(n);
  });
  std::printf("fib(%ld): serial %.3f s, bare coroutines %.3f s, %.1f times\n", n, function, coroutine, coroutine / function);
  return found == expected ? 0 : 1;
}
