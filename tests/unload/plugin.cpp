// A shared object with nopal inside, of which its host knows nothing.

#include <optional>

#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

std::optional<nopal::pool> pool;

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

}  // namespace

extern "C" {
void plugin_begin() { pool.emplace(nopal::pool_options{.workers = 2}); }
long plugin_run() { return pool->run(fib, 10L); }
void plugin_end() { pool.reset(); }
long plugin_run_on_default_pool() { return nopal::default_pool().run(fib, 10L); }
}
