// The C interface, used from C (c_functions.c) and with C++ functions that throw.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "../scale.hpp"
#include "nopal/nopal.h"

extern "C" {
void c_fib(void* arg);
void c_fib_by_halves(void* arg);
void c_fib_by_fibers(void* arg);
long c_run(nopal_pool* pool, nopal_function fn, long n);
nopal_pool* c_pool(unsigned workers);
nopal_status c_loops(size_t first, size_t last, unsigned char* times);
}

namespace {

TEST(c_test, forks_and_spawns) {
  for (unsigned const workers : {1u, 2u, 8u}) {
    nopal_pool* const pool = c_pool(workers);
    ASSERT_NE(pool, nullptr);
    EXPECT_EQ(nopal_pool_workers(pool), workers);
    EXPECT_EQ(c_run(pool, c_fib, 15), 610);
    EXPECT_EQ(c_run(pool, c_fib_by_halves, 18), 2584);
    EXPECT_EQ(c_run(pool, c_fib_by_fibers, 12), 144);
    nopal_pool_destroy(pool);
  }
  EXPECT_EQ(c_run(nullptr, c_fib, 12), 144);
  EXPECT_EQ(c_run(nullptr, c_fib_by_halves, 12), 144);
  nopal_pool_destroy(nullptr);
}

void throws(void* what) {
  if (what == nullptr) throw 1;
  throw std::runtime_error{static_cast<char const*>(what)};
}

TEST(c_test, nothing_thrown_crosses_it) {
  nopal_pool* const pool = c_pool(2);
  char text[] = "from inside";
  EXPECT_EQ(nopal_pool_run(pool, throws, text), NOPAL_EXCEPTION);
  EXPECT_STREQ(nopal_last_error(), "from inside");
  EXPECT_EQ(nopal_pool_run(pool, throws, nullptr), NOPAL_EXCEPTION);
  EXPECT_NE(std::string{nopal_last_error()}.find("not a std::exception"), std::string::npos);

  EXPECT_EQ(nopal_pool_run(pool, [](void*) { throw std::bad_alloc{}; }, nullptr), NOPAL_EXCEPTION);

  nopal_scope s;
  nopal_scope_init(&s);
  EXPECT_EQ(nopal_fork(&s, throws, text), NOPAL_OK);
  EXPECT_EQ(nopal_join(&s), NOPAL_EXCEPTION);
  EXPECT_EQ(nopal_join(&s), NOPAL_OK);

  auto const nothing = [](void*) {};
  EXPECT_EQ(nopal_parallel_invoke(throws, text, nothing, nullptr), NOPAL_EXCEPTION);
  EXPECT_STREQ(nopal_last_error(), "from inside");
  EXPECT_EQ(nopal_parallel_invoke(nothing, nullptr, throws, text), NOPAL_EXCEPTION);
  EXPECT_EQ(nopal_parallel_invoke(nothing, nullptr, nothing, nullptr), NOPAL_OK);

  nopal_counter c;
  nopal_counter_init(&c, 0);
  EXPECT_EQ(nopal_spawn(&c, throws, text), NOPAL_OK);
  EXPECT_EQ(nopal_wait(&c, 0), NOPAL_EXCEPTION);
  EXPECT_EQ(nopal_wait(&c, 0), NOPAL_OK);
  nopal_counter_add(&c, 3);
  EXPECT_EQ(nopal_wait_for(&c, 0, 1'000'000), NOPAL_TIMEOUT);
  nopal_counter_done(&c, 3);
  EXPECT_EQ(nopal_wait_for(&c, 0, 1'000'000), NOPAL_OK);
  EXPECT_EQ(nopal_counter_load(&c), 0);
  nopal_counter_destroy(&c);
  EXPECT_EQ(nopal_sleep_for(1000), NOPAL_OK);
  nopal_yield();
  nopal_pool_destroy(pool);
}

TEST(c_test, loops) {
  for (std::size_t const n : {0u, 2u, 1000u, 100'000u}) {
    std::vector<unsigned char> times(n + 10);
    ASSERT_EQ(c_loops(5, n + 5, times.data()), NOPAL_OK);
    for (std::size_t i = 0; i < times.size(); ++i) {
      ASSERT_EQ(times[i], i < 5 || i >= n + 5 ? 0 : i < 5 + n / 2 ? 2 : 1) << i << " of " << n;
    }
  }
  std::vector<unsigned char> times(10);
  EXPECT_EQ(c_loops(5, 5, times.data()), NOPAL_OK);
  EXPECT_EQ(nopal_parallel_for(7, 3, [](size_t, size_t, void*) { ADD_FAILURE(); }, nullptr), NOPAL_OK);
  EXPECT_EQ(nopal_parallel_for(0, 10, nullptr, nullptr), NOPAL_INVALID);
  auto const throws_at_a_thousand = [](size_t first, size_t last, void*) {
    if (first <= 1000 && 1000 < last) throw std::runtime_error{"at 1000"};
  };
  EXPECT_EQ(nopal_parallel_for(0, 100'000, throws_at_a_thousand, nullptr), NOPAL_EXCEPTION);
  EXPECT_STREQ(nopal_last_error(), "at 1000");
}

TEST(c_test, bad_input_is_refused_with_a_reason) {
  nopal_options o{};
  o.workers = 1u << 20;
  EXPECT_EQ(nopal_pool_create(&o), nullptr);
  EXPECT_NE(std::string{nopal_last_error()}.find("workers = 1048576 is more than the limit"), std::string::npos) << nopal_last_error();
  o = {};
  o.idle = 7;
  EXPECT_EQ(nopal_pool_create(&o), nullptr);
  EXPECT_NE(std::string{nopal_last_error()}.find("idle = 7 is not one of the values 0 to 1"), std::string::npos) << nopal_last_error();
  EXPECT_EQ(nopal_pool_run(nullptr, nullptr, nullptr), NOPAL_INVALID);
  o = {};
  o.victims = -1;
  EXPECT_EQ(nopal_pool_create(&o), nullptr);
  EXPECT_NE(std::string{nopal_last_error()}.find("victims = -1 is not one of the values 0 to 2"), std::string::npos) << nopal_last_error();
  EXPECT_EQ(nopal_fork(nullptr, nullptr, nullptr), NOPAL_INVALID);
  EXPECT_EQ(nopal_parallel_invoke(c_fib, nullptr, nullptr, nullptr), NOPAL_INVALID);
  EXPECT_EQ(nopal_parallel_invoke(nullptr, nullptr, c_fib, nullptr), NOPAL_INVALID);
  EXPECT_EQ(nopal_spawn(nullptr, nullptr, nullptr), NOPAL_INVALID);
}

TEST(c_test, what_a_counter_cannot_count_is_refused) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  nopal_counter c;
  EXPECT_EQ(nopal_counter_init(&c, most), NOPAL_INVALID);
  EXPECT_NE(std::string{nopal_last_error()}.find("with n = 9223372036854775807: a counter counts by"), std::string::npos)
      << nopal_last_error();
  EXPECT_EQ(nopal_counter_init(&c, least), NOPAL_INVALID);
  ASSERT_EQ(nopal_counter_init(&c, 0), NOPAL_OK);
  for (std::int64_t const n : {most, least}) {
    EXPECT_EQ(nopal_counter_add(&c, n), NOPAL_INVALID);
    EXPECT_EQ(nopal_counter_done(&c, n), NOPAL_INVALID);
    EXPECT_EQ(nopal_counter_load(&c), 0);
  }
  nopal_counter_destroy(&c);
}

/// The call has failed, with a message that `what` is null.
void expect_null(nopal_status status, std::string const& what) {
  EXPECT_EQ(status, NOPAL_INVALID) << what;
  EXPECT_EQ(nopal_last_error(), what + " is null");
}

TEST(c_test, null_is_refused_by_name) {
  auto const nothing = [](void*) {};
  expect_null(nopal_scope_init(nullptr), "nopal_scope_init: the scope");
  expect_null(nopal_fork(nullptr, nothing, nullptr), "nopal_fork: the scope");
  expect_null(nopal_join(nullptr), "nopal_join: the scope");
  expect_null(nopal_counter_init(nullptr, 1), "nopal_counter_init: the counter");
  expect_null(nopal_counter_add(nullptr, 1), "nopal_counter_add: the counter");
  expect_null(nopal_counter_done(nullptr, 1), "nopal_counter_done: the counter");
  EXPECT_EQ(nopal_counter_load(nullptr), 0);
  EXPECT_STREQ(nopal_last_error(), "nopal_counter_load: the counter is null");
  expect_null(nopal_wait(nullptr, 0), "nopal_wait: the counter");
  expect_null(nopal_wait_for(nullptr, 0, 1), "nopal_wait_for: the counter");
  nopal_counter_destroy(nullptr);

  nopal_scope s;
  EXPECT_EQ(nopal_scope_init(&s), NOPAL_OK);
  expect_null(nopal_fork(&s, nullptr, nullptr), "nopal_fork: the function");
  EXPECT_EQ(nopal_join(&s), NOPAL_OK);
  nopal_counter c;
  EXPECT_EQ(nopal_counter_init(&c, 0), NOPAL_OK);
  expect_null(nopal_spawn(&c, nullptr, nullptr), "nopal_spawn: the function");
  expect_null(nopal_pool_run(nullptr, nullptr, nullptr), "nopal_pool_run: the function");
  expect_null(nopal_parallel_for(0, 1, nullptr, nullptr), "nopal_parallel_for: the body");
  EXPECT_EQ(nopal_counter_add(&c, 2), NOPAL_OK);
  EXPECT_EQ(nopal_counter_done(&c, 2), NOPAL_OK);
  nopal_counter_destroy(&c);
}

TEST(c_death, a_counter_destroyed_with_what_nobody_has_heard_of) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal_counter c;
        nopal_counter_init(&c, 0);
        char text[] = "from inside";
        nopal_spawn(&c, throws, text);
        while (nopal_counter_load(&c) != 0) nopal_yield();
        nopal_counter_destroy(&c);
      },
      "an exception left a fiber \\(from inside\\), and its counter was destroyed with it");
}

}  // namespace
