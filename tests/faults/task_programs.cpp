// Tasks and jobs: run, submitted, deep, nested, waited for, with memory of their own, on other pools.

#include <atomic>
#include <chrono>
#include <thread>

#include "nopal/nopal.hpp"
#include "parts.hpp"
#include "programs.hpp"

namespace test::faults {

using namespace std::chrono_literals;
using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::pool;
using nopal::task;

bool runs(pool& p) {
  return p.run(fib, 12) == 144 && p.run([] { return 7; }) == 7;
}

bool submits(pool& p) {
  auto a = p.submit(fib, 10);
  auto b = p.submit([] { return 5; });
  auto c = p.submit([&p] { return p.submit(fib, 8).get(); });
  return a.get() == 55 && b.get() == 5 && c.get() == 21;
}

bool detaches(pool& p) {
  std::atomic<int> started{0}, done{0};
  struct waits {
    std::atomic<int>&s, &d;
    ~waits() {
      while (s != d) std::this_thread::yield();
    }
  } const all{started, done};
  for (int k = 0; k < 4; ++k) {
    p.detach([&done] { ++done; });
    ++started;
  }
  return true;
}

namespace {
task<long> forks_deep(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  co_await fork(&below, forks_deep, n - 1);
  co_await join;
  co_return below + 1;
}
task<long> calls_deep(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await call(calls_deep, n - 1);
}
}  // namespace

bool goes_deep(pool& p) { return p.run(forks_deep, 10'000L) == 10'000 && p.run(calls_deep, 10'000L) == 10'000; }

namespace {
/// A nested run at every 50th level: another strand begins above entries that are not its own. If these become too many, a nested run may
/// be the first to see it.
task<long> nests(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  if (n % 50 == 0 && nopal::sync_wait(forks_deep, 20L) != 20) co_return -1'000'000;
  co_await fork(&below, nests, n - 1);
  co_await join;
  co_return below + 1;
}
}  // namespace

bool nests_strands(pool& p) { return p.run(nests, 32'000L) == 32'000; }

namespace {
task<long> waits_natively(long n) {
  long const a = native_fib(n);
  co_return a + nopal::sync_wait(fib, n);
}
/// Waits with continuations in the deque, which other workers must run: the job that it waits for runs on another pool.
task<long> waits_amid_forks(pool* other, long n) {
  if (n == 0) {
    auto f = other->submit([] {
      std::this_thread::sleep_for(100us);
      return 1L;
    });
    co_return f.get();
  }
  long a = 0;
  co_await fork(&a, waits_amid_forks, other, n - 1);
  co_await join;
  co_return a;
}
long native_waits_amid_forks(pool* other, long n) {
  if (n == 0) return other->submit([] { return 1L; }).get();
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = native_waits_amid_forks(other, n - 1); }, [&] { b = 1; });
  return a + b - 1;
}
}  // namespace

bool waits_for_tasks(pool& p) {
  pool other{{.workers = 1}};
  return p.run(waits_natively, 8L) == 42 && p.run(waits_amid_forks, &other, 20L) == 1 && p.run(native_waits_amid_forks, &other, 20L) == 1;
}

namespace {
task<long> scratches(long n) {
  if (n == 0) co_return 0;
  auto a = co_await nopal::stack_array<long>(5000);
  for (long& x : a) x = n;
  long b = 0;
  co_await fork(&b, scratches, n - 1);
  co_await join;
  co_return a[4999] == n ? b + n : -1;
}
}  // namespace

bool takes_scratch(pool& p) { return p.run(scratches, 30L) == 465; }

namespace {
task<long> moves(pool* there, pool* back, long n) {
  if (n == 0) {
    co_await nopal::resume_on(*there);
    co_await nopal::resume_on(back->worker(0));
    co_return 1;
  }
  long a = 0;
  co_await fork(&a, moves, there, back, n - 1);
  co_await join;
  co_return a;
}
}  // namespace

bool resumes_elsewhere(pool& p) {
  pool other{{.workers = 1}};
  return p.run(moves, &other, &p, 0L) == 1 && p.run(moves, &other, &p, 12L) == 1;
}

}  // namespace test::faults
