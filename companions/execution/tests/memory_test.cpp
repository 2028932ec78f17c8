// What must not allocate: schedule, bulk, as_sender and a task's co_await, once the pool is warm.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <stdexec/execution.hpp>

#include "nopal/execution.hpp"
#include "nopal/nopal.hpp"

namespace {
std::atomic<long> allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* const p = std::malloc(n)) return p;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace ex = stdexec;

namespace {

nopal::task<int> one() { co_return 1; }

// Least allocations of several rounds: the first ones make stacks, rings and regions.
template <class F>
long least(F f) {
  long least = -1;
  for (int i = 0; i < 20 && least != 0; ++i) {
    long const before = allocations;
    for (int k = 0; k < 100; ++k) f();
    long const n = allocations - before;
    if (least < 0 || n < least) least = n;
  }
  return least;
}

}  // namespace

TEST(memory, is_not_allocated_for_an_operation) {
  nopal::pool pool{{.workers = 2}};
  auto const here = nopal::get_scheduler(pool);
  ex::inplace_stop_source stop;
  auto const asked = ex::write_env(ex::prop{ex::get_stop_token, stop.get_token()});
  std::atomic<int> n{0};
  auto from_outside = [&] { ex::sync_wait(ex::schedule(here) | ex::then([&] { ++n; })); };
  auto loops = [&] { ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 1000, [&](int) { ++n; }) | asked); };
  auto calls = [&] { ex::sync_wait(nopal::as_sender(pool, one) | asked); };
  auto awaits = [&]() -> nopal::task<> { co_await (ex::schedule(here) | ex::then([] {})); };
  EXPECT_EQ(least(from_outside), 0);
  EXPECT_EQ(least(loops), 0);
  EXPECT_EQ(least(calls), 0);
  EXPECT_EQ(least([&] { pool.run(awaits); }), 0);
  EXPECT_EQ(pool.run([&] { return least(from_outside); }), 0);
}
