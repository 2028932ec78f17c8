// The program of `fork_cost.py` and `blocked_loads.py`: one program for each way in which arguments are stored and passed to a child, on
// one worker, and nothing else that runs long. Usage: arguments PROGRAM N
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nopal/nopal.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

long leaves;

nopal::task<long> word(long n) {  // fib
  if (n < 2) co_return n;
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, word, n - 1);
  co_await nopal::call(&b, word, n - 2);
  co_await nopal::join;
  co_return a + b;
}

nopal::task<void> nothing(long n) {
  if (n < 2) {
    leaves += n;
    co_return;
  }
  co_await nopal::fork(nothing, n - 1);
  co_await nopal::call(nothing, n - 2);
  co_await nopal::join;
}

nopal::task<long> two_words(std::span<const long> all) {
  if (all.size() < 2) co_return all.front();
  long a = 0;
  long b = 0;
  co_await nopal::fork(&a, two_words, all.first(all.size() / 2));
  co_await nopal::call(&b, two_words, all.subspan(all.size() / 2));
  co_await nopal::join;
  co_return a + b;
}

struct box {
  double x, y, width, height, depth;
};
nopal::task<double> five_words(box all, long n) {
  if (n == 0) co_return all.x + all.y + all.width;
  double a = 0;
  double b = 0;
  const double half = all.width / 2;
  co_await nopal::fork(&a, five_words, box{all.x, all.y, half, all.height, all.depth + 1}, n - 1);
  co_await nopal::call(&b, five_words, box{all.x + half, all.y, half, all.height, all.depth + 1}, n - 1);
  co_await nopal::join;
  co_return a + b;
}

struct five {
  int a, b, c, d, e;
};
nopal::task<int> five_ints(five all) {
  if (all.a == 0) co_return all.e;
  int a = 0;
  int b = 0;
  co_await nopal::fork(&a, five_ints, five{all.a - 1, all.b + 1, all.c, all.d, all.e});
  co_await nopal::call(&b, five_ints, five{all.a - 1, all.b, all.c + 1, all.d, all.e + 1});
  co_await nopal::join;
  co_return a + b;
}

double closures(double x, double y, double z, long n) {
  if (n == 0) return x + y + z;
  double a = 0;
  double b = 0;
  nopal::parallel_invoke([&] { a = closures(x, y + 1, z, n - 1); }, [&] { b = closures(x + 1, y, z, n - 1); });
  return a + b;
}

double scopes(double x, double y, double z, long n) {
  if (n == 0) return x + y + z;
  double a = 0;
  nopal::scope s;
  s.fork([&] { a = scopes(x, y + 1, z, n - 1); });
  const double b = scopes(x + 1, y, z, n - 1);
  s.join();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long n = std::atol(argv[2]);
  nopal::pool pool{{.workers = 1, .pin = false}};
  const std::map<std::string, std::function<double()>> programs{
      {"word", [&] { return static_cast<double>(pool.run(word, n)); }},
      {"nothing",
       [&] {
         pool.run(nothing, n);
         return static_cast<double>(leaves);
       }},
      {"two_words",
       [&] {
         const std::vector<long> numbers(std::size_t{1} << n, 1);
         return static_cast<double>(pool.run(two_words, std::span<const long>{numbers}));
       }},
      {"five_words", [&] { return pool.run(five_words, box{0, 0, 1, 1, 0}, n); }},
      {"five_ints", [&] { return static_cast<double>(pool.run(five_ints, five{static_cast<int>(n), 0, 0, 0, 0})); }},
      {"closures", [&] { return pool.run(closures, 0.0, 0.0, 0.0, n); }},
      {"scopes", [&] { return pool.run(scopes, 0.0, 0.0, 0.0, n); }},
  };
  std::printf("%g\n", programs.at(argv[1])());
}
