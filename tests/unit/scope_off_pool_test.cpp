// Scopes of threads that work for no pool: their children run on the default pool, from when they are forked.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../meeting.hpp"
#include "../numbered.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::scope;
using test::numbered;

/// In a process of its own. Its default pool has so many workers. Ends it: with 0 if `f` returns true, 2 if `f` does not return.
template <class F>
[[noreturn]] void with_workers(unsigned n, F f) {
  ::setenv("NOPAL_WORKERS", std::to_string(n).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  std::thread{[] {
    std::this_thread::sleep_for(30s);
    std::_Exit(2);
  }}.detach();
  std::_Exit(nopal::default_pool().workers() == n && f() ? 0 : 1);
}
#define EXPECT_WITH_WORKERS(n, f) EXPECT_EXIT(with_workers(n, f), testing::ExitedWithCode(0), "")

class scope_off_pool_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

template <class F>
int number_thrown_by(F f) {
  try {
    f();
  } catch (numbered const& e) {
    return e.number;
  }
  return 0;
}

// ---- When they begin.

bool children_begin_before_the_join() {
  for (int k = 0; k < 50; ++k) {
    nopal::channel<int> numbers{1};
    scope s;
    s.fork([&] {
      for (int n = 1; n <= 5; ++n) numbers.push(n);
      numbers.close();
    });
    int sum = 0;
    while (auto n = numbers.pop()) sum += *n;
    if (sum != 15) return false;
    s.join();
  }
  return true;
}

// Each waits for one that was forked later, and the thread waits for the first, before it joins.
bool children_wait_for_each_other() {
  for (int k = 0; k < 20; ++k) {
    constexpr std::size_t n = 8;
    nopal::semaphore first{0};
    std::vector<std::unique_ptr<nopal::semaphore>> gates;
    for (std::size_t i = 0; i < n; ++i) gates.push_back(std::make_unique<nopal::semaphore>(0));
    scope s;
    for (std::size_t i = 0; i < n; ++i) {
      s.fork([&, i] {
        if (i + 1 < n) gates[i + 1]->acquire();
        (i == 0 ? first : *gates[i]).release();
      });
      if (k % 2 != 0) std::this_thread::yield();
    }
    if (k % 3 != 0) {
      first.acquire();
    } else {
      s.fork([&] { first.acquire(); });
    }
    s.join();
  }
  return true;
}

// Each waits for one that was forked earlier: the child that the joining thread takes first waits longest.
bool children_wait_for_older_ones() {
  for (int k = 0; k < 20; ++k) {
    constexpr std::size_t n = 8;
    nopal::counter begun{static_cast<std::int64_t>(n)};
    scope s;
    for (std::size_t i = 0; i < n; ++i) {
      s.fork([&, i] {
        nopal::wait_for(begun, static_cast<std::int64_t>(n - i));
        begun.done();
      });
    }
    s.join();
    if (begun.load() != 0) return false;
  }
  return true;
}

bool the_list_is_carried_again_after_it_was_empty() {
  scope s;
  for (int k = 0; k < 200; ++k) {
    std::atomic<bool> ran{false};
    s.fork([&] { ran = true; });
    while (!ran) std::this_thread::sleep_for(10us);
    if (k % 50 == 0) std::this_thread::sleep_for(2ms);
    if (k % 7 == 0) s.join();
  }
  s.join();
  return true;
}

TEST_F(scope_off_pool_test, children_begin_at_the_fork) {
  for (unsigned const n : {1u, 2u, 4u}) {
    EXPECT_WITH_WORKERS(n, children_begin_before_the_join);
    EXPECT_WITH_WORKERS(n, children_wait_for_each_other);
    EXPECT_WITH_WORKERS(n, children_wait_for_older_ones);
    EXPECT_WITH_WORKERS(n, the_list_is_carried_again_after_it_was_empty);
  }
}

bool all_meet() {
  test::meeting all{4};
  scope s;
  for (int k = 0; k < 4; ++k) s.fork([&] { all.attend(); });
  s.join();
  return all.took_place();
}

TEST_F(scope_off_pool_test, starts_whatever_can_run_at_once) { EXPECT_WITH_WORKERS(4u, all_meet); }

// ---- Who runs them.

// In an earlier version they were jobs, and the caller slept.
bool the_joining_thread_helps() {
  std::atomic<int> by_caller{0};
  auto const caller = std::this_thread::get_id();
  for (int k = 0; k < 1000 && by_caller == 0; ++k) {
    std::this_thread::sleep_for(2ms);  // so that the workers sleep
    scope s;
    for (int i = 0; i < 3; ++i) s.fork([&] { by_caller += std::this_thread::get_id() == caller; });
    s.join();
  }
  return by_caller > 0;
}

TEST_F(scope_off_pool_test, the_joining_thread_works_in_a_sleeping_workers_place) {
  EXPECT_EXIT(
      {
        ::unsetenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): where workers take turns none sleeps
        with_workers(2u, the_joining_thread_helps);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(scope_off_pool_test, children_run_on_workers_whoever_runs_them) {
  for (int k = 0; k < 300; ++k) {
    std::atomic<int> wrong{0};
    scope s;
    for (int i = 0; i < 5; ++i) {
      s.fork([&] {
        wrong += nopal::pool::current() != &nopal::default_pool() || nopal::this_worker::index() >= nopal::default_pool().workers();
        nopal::yield();
        wrong += nopal::pool::current() != &nopal::default_pool();
      });
    }
    s.join();
    EXPECT_EQ(nopal::pool::current(), nullptr);
    ASSERT_EQ(wrong, 0);
    if (k % 10 == 0) std::this_thread::sleep_for(1ms);
  }
}

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  scope s;
  s.fork([&a, n] { a = fib(n - 1); });
  long const b = fib(n - 2);
  s.join();
  return a + b;
}

TEST_F(scope_off_pool_test, they_nest) {
  for (int k = 0; k < 5; ++k) ASSERT_EQ(fib(test::scaled(16, 2)), test::sanitized ? 21 : 987);
}

TEST_F(scope_off_pool_test, many_forks_need_no_memory_that_lasts) {
  std::atomic<long> sum{0};
  long const n = test::scaled(20'000);
  scope s;
  for (long k = 0; k < n; ++k) {
    s.fork([&sum, k] { sum += k; });
  }
  s.join();
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

TEST_F(scope_off_pool_test, closures_are_moved_or_copied_and_destroyed_before_the_join_returns) {
  auto shared = std::make_shared<int>(1);
  auto owned = std::make_unique<int>(5);
  int seen = 0;
  struct alignas(64) aligned {
    int n = 7;
  };
  scope s;
  s.fork([p = std::move(owned), &seen] { seen += *p; });
  s.join();
  for (int k = 0; k < 100; ++k) s.fork([shared] { ASSERT_EQ(*shared, 1); });
  s.join();
  EXPECT_EQ(shared.use_count(), 1);
  s.fork([a = aligned{}, &seen] { seen += reinterpret_cast<std::uintptr_t>(&a) % 64 == 0 ? a.n : 0; });
  s.join();
  EXPECT_EQ(seen, 12);
}

// ---- Exceptions.

TEST_F(scope_off_pool_test, the_first_in_serial_order_is_thrown) {
  for (int k = 0; k < 100; ++k) {
    std::atomic<int> ended{0};
    scope s;
    s.fork([&] { ++ended; });
    s.fork([&] {
      if (k % 3 == 0) std::this_thread::sleep_for(1ms);
      ++ended;
      throw numbered{1};
    });
    s.fork([&] {
      ++ended;
      throw numbered{2};
    });
    if (k % 2 == 0) std::this_thread::sleep_for(100us);
    EXPECT_EQ(number_thrown_by([&] { s.join(); }), 1);
    EXPECT_EQ(ended, 3);
    s.fork([&] { throw numbered{4}; });
    EXPECT_EQ(number_thrown_by([&] { s.join(); }), 4);
    EXPECT_EQ(number_thrown_by([&] { s.join(); }), 0);
  }
  EXPECT_EQ(number_thrown_by([] {
              scope s;
              s.fork([] { throw numbered{3}; });
            }),
            3);
}

TEST_F(scope_off_pool_test, an_exception_that_leaves_waits_for_the_children_and_goes_on) {
  std::atomic<int> ended{0};
  EXPECT_EQ(number_thrown_by([&] {
              scope s;
              for (int k = 0; k < 5; ++k) {
                s.fork([&] {
                  fib(8);
                  ++ended;
                  throw numbered{1};
                });
              }
              throw numbered{2};
            }),
            2);
  EXPECT_EQ(ended, 5);
}

struct forks_when_destroyed {
  long* to;
  ~forks_when_destroyed() {
    long a = 0;
    int caught = 0;
    scope s;
    s.fork([&] { a = fib(7); });
    s.fork([&] {
      try {
        throw numbered{8};
      } catch (numbered const&) {
        nopal::yield();
        caught = std::uncaught_exceptions();  // those of the thread that runs it
      }
      throw numbered{1};
    });
    try {
      s.join();
    } catch (numbered const& e) {
      *to = a + e.number + caught;
    }
  }
};

TEST_F(scope_off_pool_test, destructors_may_fork_while_an_exception_unwinds) {
  for (int k = 0; k < 50; ++k) {
    long got = 0;
    EXPECT_EQ(number_thrown_by([&] {
                forks_when_destroyed const x{&got};
                throw numbered{5};
              }),
              5);
    ASSERT_EQ(got, 14);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  }
}

struct copied {
  int* copies;
  bool throws;
  copied(int* c, bool t) : copies{c}, throws{t} {}
  copied(copied const& o) : copies{o.copies}, throws{o.throws} {
    if (throws) throw std::bad_alloc{};
    ++*copies;
  }
  void operator()() const {}
};

TEST_F(scope_off_pool_test, a_fork_that_throws_has_forked_nothing) {
  int copies = 0;
  copied const good{&copies, false}, bad{&copies, true};
  scope s;
  EXPECT_THROW(s.fork(bad), std::bad_alloc);
  s.join();
  s.fork(good);
  EXPECT_THROW(s.fork(bad), std::bad_alloc);
  s.fork(good);
  s.join();
  EXPECT_EQ(copies, 2);
}

// ---- Misuse.

TEST_F(scope_off_pool_test, a_child_that_forks_in_its_parents_scope_is_told_so) {
  test::races_are_not_reported();  // the child reads of the scope what its parent writes
  EXPECT_DEATH(
      {
        scope s;
        s.fork([&] { s.fork([] {}); });
        s.join();
      },
      "nopal: a scope (that was made off a pool forked on one|forked on another stack than its own): in one of its children");
  EXPECT_DEATH(
      {
        scope s;
        s.fork([] {});
        nopal::default_pool().run([&] { s.fork([] {}); });
      },
      "make another scope there");
}

}  // namespace
