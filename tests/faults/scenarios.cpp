#include "scenarios.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "../numbered.hpp"
#include "../scale.hpp"
#include "nopal/nopal.h"
#include "nopal/nopal.hpp"

// Where memory may end a scenario is written as a careful program is: what was started is waited for before an exception goes on.

namespace test::faults {
namespace {

using namespace std::chrono_literals;
using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::pool;
using nopal::task;

/// Until f() or for a moment: that others come to it, but nothing hangs where they cannot.
template <class F>
void for_a_moment(F f) {
  auto const until = std::chrono::steady_clock::now() + (sanitized ? 2ms : 300us);
  while (!f() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

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
bool goes_deep(pool& p) { return p.run(forks_deep, 10'000L) == 10'000 && p.run(calls_deep, 10'000L) == 10'000; }

/// A nested run at every 500th level: another strand begins above entries that are not its own.
task<long> nests(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  if (n % 500 == 0) {
    auto const nested = [n] { return nopal::sync_wait(forks_deep, n % 1000 + 200); };
    long inner = 0;
    try {
      inner = nested();
    } catch (...) {
      // An exception between fork and join must not leave; here nothing is forked yet.
      throw;
    }
    if (inner != n % 1000 + 200) co_return -1'000'000;
  }
  co_await fork(&below, nests, n - 1);
  co_await join;
  co_return below + 1;
}
bool nests_strands(pool& p) { return p.run(nests, 3000L) == 3000; }

long native_fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = native_fib(n - 1); }, [&] { b = native_fib(n - 2); });
  return a + b;
}
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
bool forks_natively(pool& p) { return p.run(native_fib, 12) == 144 && p.run(handed_over, 3) == 8; }

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
bool forks_in_scopes(pool& p) { return p.run(scope_fib, 10) == 55 && p.run(scope_handed_over, 3) == 8; }

task<long> waits_natively(long n) {
  long const a = native_fib(n);
  co_return a + nopal::sync_wait(fib, n);
}
/// Waits with continuations in the deque, which must go elsewhere: the job that it waits for runs on another pool.
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
bool waits_for_tasks(pool& p) {
  pool other{{.workers = 1}};
  return p.run(waits_natively, 8L) == 42 && p.run(waits_amid_forks, &other, 20L) == 1 &&
         p.run(native_waits_amid_forks, &other, 20L) == 1;
}

/// Spawns `n` on the counter, as far as it goes, and waits for them.
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
bool spawns(pool& p) {
  std::atomic<int> ran{0};
  p.run([&] {
    nopal::counter left;
    spawns_and_waits(left, 10'000, [&] { ++ran; });
  });
  return ran == 10'000;
}
bool spawns_outside(pool&) {
  std::atomic<int> ran{0};
  nopal::counter left;
  spawns_and_waits(left, 20, [&] { ++ran; });
  return ran == 20;
}
bool fibers_park(pool& p) {
  std::atomic<int> ran{0};
  p.run([&] {
    nopal::counter outer;
    spawns_and_waits(outer, 20, [&] {
      nopal::counter inner;
      spawns_and_waits(inner, 3, [&] {
        nopal::yield();
        ++ran;
      });
    });
  });
  return ran == 60;
}

bool waits_with_limits(pool& p) {
  bool right = true;
  p.run([&] {
    nopal::counter never{1}, left;
    struct reaches {
      nopal::counter& c;
      ~reaches() { c.done(); }
    } const at_the_end{never};
    right = !nopal::wait_for(never, 0, 200us);
    std::exception_ptr error;
    try {
      nopal::spawn(left, [] { nopal::sleep_for(100us); });
      right = nopal::wait_for(left, 0, 30s) && right;
    } catch (...) {
      error = std::current_exception();
    }
    try {
      nopal::wait_for(left);
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
    if (error != nullptr) std::rethrow_exception(error);
  });
  nopal::counter never{1};
  right = !nopal::wait_for(never, 0, 200us) && right;
  never.done();
  return right;
}

bool synchronises(pool& p) {
  int sum = 0;
  std::atomic<int> permits{0};
  bool late = false;
  p.run([&] {
    nopal::mutex m;
    nopal::condition_variable changed;
    nopal::semaphore s{2};
    nopal::counter left;
    int arrived = 0;
    spawns_and_waits(left, 8, [&] {
      s.acquire();
      ++permits;
      s.release();
      std::unique_lock lock{m};
      ++sum;
      ++arrived;
      changed.notify_all();
    });
    std::unique_lock lock{m};
    changed.wait(lock, [&] { return arrived == 8; });
    nopal::semaphore none{0};
    late = !none.try_acquire_for(100us) && changed.wait_for(lock, 100us) == std::cv_status::timeout;
  });
  return sum == 8 && permits == 8 && late;
}

bool passes_through_channels(pool& p) {
  long sum = 0;
  p.run([&] {
    nopal::channel<long> c{2};
    nopal::counter left;
    nopal::spawn(left, [&] {
      while (auto const v = c.pop()) sum += *v;
    });
    try {
      for (long k = 1; k <= 20; ++k) c.push(k);
    } catch (...) {
      c.close();
      nopal::wait_for(left);
      throw;
    }
    c.close();
    nopal::wait_for(left);
  });
  return sum == 210;
}

task<long> scratches(long n) {
  if (n == 0) co_return 0;
  auto a = co_await nopal::stack_array<long>(5000);
  for (long& x : a) x = n;
  long b = 0;
  co_await fork(&b, scratches, n - 1);
  co_await join;
  co_return a[4999] == n ? b + n : -1;
}
bool takes_scratch(pool& p) { return p.run(scratches, 30L) == 465; }

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
bool resumes_elsewhere(pool& p) {
  pool other{{.workers = 1}};
  return p.run(moves, &other, &p, 0L) == 1 && p.run(moves, &other, &p, 12L) == 1;
}

task<long> throws_at(long n, long where) {
  if (n == where) throw numbered{static_cast<int>(n)};
  if (n == 0) co_return 0;
  long a = 0, b = 0;
  co_await fork(&a, throws_at, n - 1, where);
  co_await fork(&b, throws_at, n - 2 > 0 ? n - 2 : 0, where);
  co_await join;
  co_return a + b;
}
bool throws(pool& p) {
  for (int k = 0; k < 5; ++k) {
    try {
      p.run(throws_at, 8L, 3L);
      return false;
    } catch (numbered const& e) {
      if (e.number != 3) return false;
    }
    try {
      p.run([] { nopal::parallel_invoke([] { native_fib(5); }, [] { throw numbered{1}; }, [] { throw numbered{2}; }); });
      return false;
    } catch (numbered const& e) {
      if (e.number != 1) return false;
    }
    try {
      p.run([] {
        nopal::scope s;
        s.fork([] { throw numbered{1}; });
        s.fork([] { native_fib(5); });
        s.join();
      });
      return false;
    } catch (numbered const& e) {
      if (e.number != 1) return false;
    }
    try {
      p.run([] {
        nopal::counter left;
        spawns_and_waits(left, 3, [] { throw numbered{1}; });
      });
      return false;
    } catch (numbered const&) {
    }
  }
  return true;
}

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

/// A status, and the words that belong to it, which are the calling thread's.
struct c_status {
  nopal_status status = NOPAL_OK;
  std::array<char, 200> words{};

  /// The first that is not good stays.
  void note(nopal_status s) noexcept {
    if (status != NOPAL_OK || s == NOPAL_OK) return;
    status = s;
    std::snprintf(words.data(), words.size(), "%s", nopal_last_error());
  }
  void note(c_status const& s) noexcept {
    if (status == NOPAL_OK) *this = s;
  }
  /// As an exception that the harness knows.
  void check() const {
    if (status == NOPAL_NO_MEMORY) throw std::bad_alloc{};
    if (status == NOPAL_SYSTEM) throw std::system_error{EAGAIN, std::generic_category(), words.data()};
    if (status != NOPAL_OK) throw std::logic_error{words.data()};
  }
};
struct in_c {
  long n = 0, result = 0;
  c_status status{};
};
void c_fib(void* arg) {
  auto& x = *static_cast<in_c*>(arg);
  if (x.n < 2) {
    x.result = x.n;
    return;
  }
  in_c a{x.n - 1}, b{x.n - 2};
  nopal_scope s;
  nopal_scope_init(&s);
  x.status.note(nopal_fork(&s, c_fib, &a));
  c_fib(&b);
  x.status.note(nopal_join(&s));
  x.status.note(a.status);
  x.status.note(b.status);
  x.result = a.result + b.result;
}
bool speaks_c(pool&) {
  nopal_options options{};
  options.workers = 2;
  nopal_pool* const p = nopal_pool_create(&options);
  if (p == nullptr) {
    std::string const why = nopal_last_error();
    if (why == "nopal: out of memory") throw std::bad_alloc{};
    throw std::system_error{EAGAIN, std::generic_category(), why};
  }
  struct destroys {
    nopal_pool* p;
    ~destroys() { nopal_pool_destroy(p); }
  } const at_the_end{p};
  in_c x{10};
  x.status.note(nopal_pool_run(p, c_fib, &x));
  x.status.check();
  struct fibers {
    std::atomic<int> ran{0};
    c_status status;
  } f;
  f.status.note(nopal_pool_run(
      p,
      [](void* arg) {
        auto& all = *static_cast<fibers*>(arg);
        nopal_counter left;
        nopal_counter_init(&left, 0);
        for (int k = 0; k < 5; ++k) all.status.note(nopal_spawn(&left, [](void* a) { ++static_cast<fibers*>(a)->ran; }, arg));
        all.status.note(nopal_wait(&left, 0));
        all.status.note(nopal_sleep_for(1000));
        nopal_counter_destroy(&left);
      },
      &f));
  f.status.check();
  return x.result == 55 && f.ran == 5;
}

/// All of it: made, used and destroyed while calls fail.
bool comes_and_goes(pool&) {
  pool p{{.workers = 3}};
  return runs(p) && forks_natively(p);
}

bool reports(pool& p) {
  bool right = true;
  p.run([&] {
    nopal::counter held{1}, left;
    std::exception_ptr error;
    try {
      nopal::spawn(left, [&] { nopal::wait_for(held); });
      nopal::yield();
      right = !p.report().empty() && p.stats().per_worker.size() == p.workers();
    } catch (...) {
      error = std::current_exception();
    }
    held.done();
    nopal::wait_for(left);
    if (error != nullptr) std::rethrow_exception(error);
  });
  return right;
}

std::vector<scenario> make_scenarios() {
  nopal::pool_options const two{.workers = 2}, one{.workers = 1}, three{.workers = 3};
  nopal::pool_options small = three, pinned = one, busy = two, kept = two, freed = two, remapped = two, held = two;
  small.stack_size = 64 << 10;
  pinned.pin = true;
  busy.idle = nopal::idle::busy;
  kept.steal = false;
  freed.reclaim = nopal::reclaim::free;
  remapped.reclaim = nopal::reclaim::remap;
  held.reclaim = nopal::reclaim::none;
  return {
      {"runs", three, runs},
      {"runs_pinned", pinned, runs},
      {"runs_busily", busy, runs},
      {"runs_without_stealing", kept, fibers_park},
      {"comes_and_goes", one, comes_and_goes},
      {"submits", two, submits},
      {"detaches", two, detaches},
      {"goes_deep", two, goes_deep},
      {"goes_deep_on_small_stacks", small, goes_deep},
      {"nests_strands", two, nests_strands},
      {"nests_strands_alone", one, nests_strands},
      {"forks_natively", two, forks_natively},
      {"forks_in_scopes", two, forks_in_scopes},
      {"gives_pages_back_freed", freed, forks_natively},
      {"gives_pages_back_remapped", remapped, forks_natively},
      {"gives_no_pages_back", held, forks_natively},
      {"waits_for_tasks", two, waits_for_tasks},
      {"waits_for_tasks_alone", one, waits_for_tasks},
      {"spawns", two, spawns},
      {"spawns_outside", one, spawns_outside},
      {"fibers_park", two, fibers_park},
      {"fibers_park_alone", one, fibers_park},
      {"waits_with_limits", two, waits_with_limits},
      {"synchronises", two, synchronises},
      {"synchronises_alone", one, synchronises},
      {"passes_through_channels", two, passes_through_channels},
      {"takes_scratch", two, takes_scratch},
      {"resumes_elsewhere", two, resumes_elsewhere},
      {"throws", two, throws, true},
      {"uses_the_default_pool", one, uses_the_default_pool},
      {"speaks_c", one, speaks_c},
      {"reports", one, reports},
  };
}

}  // namespace

std::vector<scenario> const& scenarios() {
  static std::vector<scenario> const all = make_scenarios();
  return all;
}

}  // namespace test::faults
