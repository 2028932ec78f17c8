#include "work.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct numbered : std::runtime_error {
  explicit numbered(int n) : std::runtime_error{"numbered"}, number{n} {}
  int number;
};

nopal::task<long> task_fib(long n, side const* other) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, other->task_fib, n - 1, SIDE());
  co_await nopal::call(&b, task_fib, n - 2, other);
  co_await nopal::join;
  co_return a + b;
}

long fib(long n, side const* other) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = other->fib(n - 1, SIDE()); }, [&] { b = fib(n - 2, other); });
  return a + b;
}

/// One branch waits until the other runs elsewhere, and ends before it: so the caller's stack is left, and the thief resumes it.
template <class F>
void migrate(F&& also) {
  std::atomic<bool> taken{false};
  nopal::parallel_invoke(
      [&] {
        while (!taken) std::this_thread::yield();
      },
      [&] {
        taken = true;
        also();
        std::this_thread::sleep_for(std::chrono::microseconds{100});
      });
}

/// True if another worker has resumed the stack. The exception that is being handled must be the same there.
bool handles_across_a_migration() {
  unsigned const before = nopal::this_worker::index();
  try {
    throw numbered{7};
  } catch (numbered const&) {
    migrate([] {});
    try {
      throw;
    } catch (numbered const& e) {
      if (e.number != 7) throw std::logic_error{"another exception came along"};
    }
  }
  try {
    migrate([] { throw numbered{8}; });
    throw std::logic_error{"no exception came from a branch"};
  } catch (numbered const& e) {
    if (e.number != 8) throw std::logic_error{"another exception came from a branch"};
  }
  return nopal::this_worker::index() != before;
}

nopal::task<void> throws_when_joined() {
  co_await nopal::fork(
      [](long n) -> nopal::task<void> {
        if (n != 0) throw numbered{9};
        co_return;
      },
      1L);
  co_await nopal::join;
}

/// Waits of all other kinds, also between fork and join.
nopal::task<long> awaits(nopal::pool& pool) {
  long a = 0;
  nopal::counter left{1};
  auto number = pool.submit([&] {
    left.done();
    return 40L;
  });
  co_await nopal::fork(&a, [](long n) -> nopal::task<long> { co_return n; }, 2L);
  co_await left.reaches(0);
  long const b = co_await number;
  co_await nopal::join;
  co_return a + b;
}

char const* work(nopal::pool& pool) {
  try {
    if (pool.run([&](int) { return awaits(pool); }, 0) != 42) return "a task that awaits a future and a counter";
    for (int k = 0; k < 3; ++k) {
      if (pool.run(task_fib, 20L, SIDE()) != 6765) return "fib(20) by tasks";
      if (pool.run(fib, 20L, SIDE()) != 6765) return "fib(20) by parallel_invoke";
    }
    std::atomic<long> sum{0};
    pool.run([&] {
      nopal::scope s;
      for (long k = 1; k <= 1000; ++k) s.fork([&sum, k] { sum += k; });
      s.join();
    });
    if (sum != 500'500) return "the sum of a scope";

    // A fiber that waits for the mutex continues on any thread.
    long count = 0;
    std::atomic<long> woken{0};
    nopal::counter left, gate{1};
    nopal::mutex guard;
    pool.run([&] {
      for (int k = 0; k < 100; ++k) {
        nopal::spawn(left, [&] {
          nopal::wait_for(gate);
          ++woken;
          for (int i = 0; i < 200; ++i) {
            guard.lock();
            ++count;
            nopal::yield();
            guard.unlock();
          }
        });
      }
      gate.done();
      nopal::wait_for(left);
    });
    if (count != 20'000 || woken != 100) return "fibers with a mutex";

    int migrated = 0;
    for (int k = 0; k < 200; ++k) migrated += pool.run(handles_across_a_migration);
    if (migrated == 0) return "no stack has migrated";
    try {
      pool.run(throws_when_joined);
      return "no exception came from a task";
    } catch (numbered const& e) {
      if (e.number != 9) return "another exception came from a task";
    }
    if (pool.stats().steals == 0) return "nothing was stolen";
  } catch (std::exception const& e) {
    static std::string const said = e.what();
    return said.c_str();
  }
  return nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] side const* SIDE() {
  static constexpr side mine{work, fib, task_fib};
  return &mine;
}

#ifdef ALONE
extern "C" [[gnu::visibility("default")]] char const* ALONE(side const* other) {
  nopal::pool pool{{.workers = 4}};
  return work_together(pool, SIDE(), other);
}
#endif
