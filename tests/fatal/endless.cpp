// Recursions without an end: each ends the program with a message, before the machine is out of memory. The first argument selects one.

#include <cstdio>
#include <string_view>

#include <nopal/native.hpp>
#include <nopal/pool.hpp>
#include <nopal/scope.hpp>
#include <nopal/scratch.hpp>
#include <nopal/task.hpp>

namespace endless {

long by_scope(long n) {
  long below = 0;
  nopal::scope s;
  s.fork([&] { below = by_scope(n + 1); });
  s.join();
  return below + 1;
}
nopal::task<long> by_fork(long n) {
  long below = 0;
  co_await nopal::fork(&below, by_fork, n + 1);
  co_await nopal::join;
  co_return below + 1;
}
long by_run(nopal::pool& pool, long n) {
  return pool.run([&] { return by_run(pool, n + 1); }) + 1;
}
nopal::task<long> by_sync_wait(long n) { co_return nopal::sync_wait(by_sync_wait, n + 1) + 1; }

// What a task keeps beside its frame.
nopal::task<long> by_scratch(long n) {
  auto const numbers = co_await nopal::stack_array<long>(1000);
  numbers[0] = co_await nopal::call(by_scratch, n + 1);
  co_return numbers[0] + 1;
}

// An ordinary function: its native stack is full in the end, usually while the fork pushes its last words there.
long by_call(long n) {
  if (n < 0) return 0;  // never
  long own = 0;
  nopal::scope s;
  s.fork([&] { own = n; });
  long const below = by_call(n + 1);
  s.join();
  return below + own;
}

}  // namespace endless

int main(int, char** argv) {
  std::string_view const how = argv[1];
  nopal::pool pool{{.workers = 2, .memory_limit = std::size_t{64} << 20}};
  long n = 0;
  if (how == "scope") n = pool.run([] { return endless::by_scope(0); });
  if (how == "fork") n = pool.run(endless::by_fork, 0L);
  if (how == "run") n = pool.run([&] { return endless::by_run(pool, 0); });
  if (how == "sync_wait") n = pool.run(endless::by_sync_wait, 0L);
  if (how == "scratch") n = pool.run(endless::by_scratch, 0L);
  if (how == "call") n = pool.run([] { return endless::by_call(0); });
  std::printf("%ld\n", n);
}
