// A shared object that contains nopal; its host does not use nopal.

#include <chrono>
#include <optional>

#include "nopal/fiber.hpp"
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
long plugin_run_on_default_pool() {
  nopal::counter left;
  for (int k = 0; k < 4; ++k) nopal::spawn(left, [] { nopal::yield(); });
  nopal::wait_for(left);
  return nopal::default_pool().run(fib, 10L);
}
bool plugin_shutdown() { return nopal::shutdown(std::chrono::hours{1}).empty(); }
void plugin_goes_on() {
  for (int k = 0; k < 4; ++k) {
    nopal::spawn([] {
      for (;;) {
        fib(15);
        nopal::sleep_for(std::chrono::microseconds{50});
      }
    });
  }
}
}
