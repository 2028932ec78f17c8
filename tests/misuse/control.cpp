// What misuse/ may lean on: correct use of the library compiles with the same flags.
#include <nopal/nopal.hpp>

nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

// A generic closure among the arguments is not called with those that follow.
constexpr auto size_of = [](auto const& text) { return text.size(); };
nopal::task<> keep(decltype(size_of), int) { co_return; }
nopal::task<> parent() {
  co_await nopal::fork(keep, size_of, 3);
  co_await nopal::join;
}

int main() {
  nopal::pool pool;
  return pool.run(fib, 10) == 55 ? 0 : 1;
}
