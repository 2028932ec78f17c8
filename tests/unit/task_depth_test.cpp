// fork and call: as deep and as wide as memory allows, on little stack.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"
#include "on_every_pool.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;
using test::on_every_pool;

task<long> chain_of_forks(long n) {
  if (n == 0) co_return 0;
  long below = 0;
  co_await fork(&below, chain_of_forks, n - 1);
  co_await join;
  co_return below + 1;
}
task<long> chain_of_calls(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await call(chain_of_calls, n - 1);
}
task<long> chain_of_both(long n, std::string unused) {
  if (n == 0) co_return 0;
  long below = 0;
  if (n % 3 == 0) {
    co_await call(&below, chain_of_both, n - 1, unused);
  } else {
    co_await fork(&below, chain_of_both, n - 1, unused);
    co_await join;
  }
  co_return below + 1;
}
constexpr long deep = test::scaled(1'000'000, 10);

TEST(task, a_million_forks_may_nest) {
  nopal::pool pool;
  EXPECT_EQ(pool.run(chain_of_forks, deep), deep);
  EXPECT_EQ(pool.submit(chain_of_forks, deep).get(), deep);
}

TEST(task, a_million_calls_may_nest) {
  nopal::pool pool;
  EXPECT_EQ(pool.run(chain_of_calls, deep), deep);
  EXPECT_EQ(pool.submit(chain_of_calls, deep).get(), deep);
}

TEST(task, deep_nesting_keeps_its_arguments) {
  on_every_pool([](nopal::pool& pool) {
    std::string const long_text(100, 'x');
    EXPECT_EQ(pool.run(chain_of_both, test::scaled(50'000), long_text), test::scaled(50'000));
  });
}

/// Runs f on a thread with a stack of so many bytes.
void on_a_stack_of(std::size_t bytes, std::function<void()> f) {
  pthread_attr_t a;
  ASSERT_EQ(pthread_attr_init(&a), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&a, bytes), 0);
  pthread_t thread;
  auto const body = [](void* arg) -> void* {
    (*static_cast<std::function<void()>*>(arg))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &a, body, &f), 0);
  pthread_attr_destroy(&a);
  pthread_join(thread, nullptr);
}

TEST(task, nesting_asks_little_of_the_callers_stack) {
  nopal::pool pool;
  for (std::size_t const kib : {128u, 256u, 512u}) {
    on_a_stack_of(kib * 1024, [&] {
      EXPECT_EQ(pool.run(chain_of_forks, deep), deep);
      EXPECT_EQ(pool.run(chain_of_calls, deep), deep);
    });
  }
}

task<> add(std::atomic<long>& sum, long n) {
  sum.fetch_add(n, std::memory_order_relaxed);
  co_return;
}
task<long> flat(long n) {
  std::atomic<long> sum{0};
  for (long k = 1; k <= n; ++k) co_await fork(add, sum, k);
  co_await join;
  co_return sum.load();
}

TEST(task, ten_million_forks_in_one_scope_are_all_joined) {
  constexpr long n = test::scaled(10'000'000, 50);
  nopal::pool pool{{.workers = 3, .idle = nopal::idle::busy}};
  EXPECT_EQ(pool.run(flat, n), n * (n + 1) / 2);
}

/// Throws when it is moved for the n-th time.
struct fragile {
  long* moves_left;
  explicit fragile(long* n) noexcept : moves_left{n} {}
  fragile(fragile const& o) noexcept = default;
  fragile(fragile&& o) : moves_left{o.moves_left} {
    if (--*moves_left == 0) throw 7;
  }
};
task<long> chain_with_fragile(long n, fragile f) {
  if (n == 0) co_return 0;
  co_return 1 + co_await call(chain_with_fragile, n - 1, std::move(f));
}

TEST(task, a_move_may_throw_at_any_depth) {
  nopal::pool pool{{.workers = 1}};
  constexpr long depth = 700;  // so deep that some starts are deferred; those move their arguments once more
  long thrown = 0;
  for (long n = 1;; n += test::sanitized ? 23 : 1) {
    long left = n;
    try {
      EXPECT_EQ(pool.run(chain_with_fragile, depth, fragile{&left}), depth);
      break;
    } catch (int e) {
      EXPECT_EQ(e, 7);
      ++thrown;
    }
  }
  EXPECT_GT(thrown, test::scaled(depth));
}

}  // namespace
