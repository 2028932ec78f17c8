// pool_options::keep_warm and NOPAL_KEEP_WARM: threads that stay awake for the next loop.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "../scale.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/nopal.h"
#include "nopal/pool.hpp"

namespace {

using namespace std::chrono_literals;

void wait_until_asleep(nopal::pool const& pool) {
  while (pool.stats().sleeps < pool.workers()) std::this_thread::sleep_for(1ms);
}

TEST(keep_warm, keeps_threads_awake) {
  nopal::pool warm{{.workers = 2, .keep_warm = 1h}};
  nopal::pool usual{{.workers = 2}};
  wait_until_asleep(usual);
  EXPECT_EQ(warm.stats().sleeps, 0u);
  std::atomic<int> n{0};
  warm.run([&] { nopal::parallel_for(0, 100'000, [&](int) { n.fetch_add(1, std::memory_order_relaxed); }); });
  EXPECT_EQ(n, 100'000);
  EXPECT_EQ(warm.stats().sleeps, 0u);
}

TEST(keep_warm, ends) {
  nopal::pool pool{{.workers = 2, .keep_warm = 5ms}};
  wait_until_asleep(pool);  // at all
  EXPECT_EQ(pool.run([] { return nopal::reduce(std::string{"abc"}, 0); }), 'a' + 'b' + 'c');
}

TEST(keep_warm, is_not_negative) {
  try {
    nopal::pool const pool{{.keep_warm = -1ns}};
    ADD_FAILURE() << "was made";
  } catch (std::invalid_argument const& e) {
    EXPECT_NE(std::string{e.what()}.find("keep_warm = -1 ns is below 0"), std::string::npos) << e.what();
    static_assert(nopal::core::tuning::search_before_sleep == 200'000);
    EXPECT_NE(std::string{e.what()}.find("a worker that sleeps after 0.2 ms"), std::string::npos) << e.what();
  }
  nopal_options o{};
  o.keep_warm = -1;
  EXPECT_EQ(nopal_pool_create(&o), nullptr);
  EXPECT_NE(std::string{nopal_last_error()}.find("keep_warm = -1"), std::string::npos);
  o.keep_warm = 1'000'000;
  nopal_pool* const pool = nopal_pool_create(&o);
  EXPECT_NE(pool, nullptr);
  nopal_pool_destroy(pool);
}

/// With NOPAL_KEEP_WARM, in a process that has no default pool yet: 0 if `f` returns true.
template <class F>
[[noreturn]] void with_variable(char const* value, F f) {
  ::setenv("NOPAL_KEEP_WARM", value, 1);  // NOLINT(concurrency-mt-unsafe)
  ::setenv("NOPAL_WORKERS", "2", 1);      // NOLINT(concurrency-mt-unsafe)
  std::_Exit(f() ? 0 : 1);
}
bool default_pool_is_refused(std::string const& value) {
  try {
    nopal::default_pool();
    return false;
  } catch (std::invalid_argument const& e) {
    return std::string{e.what()}.find("NOPAL_KEEP_WARM = \"" + value + "\" is no number of milliseconds from 0 to 3600000") !=
           std::string::npos;
  }
}

TEST(keep_warm_death, of_the_default_pool_is_what_the_environment_says) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(with_variable("3600000",
                            [] {
                              nopal::pool const& warm = nopal::default_pool();
                              wait_until_asleep(nopal::pool{{.workers = 2}});
                              return warm.stats().sleeps == 0;
                            }),
              testing::ExitedWithCode(0), "");
  for (char const* const value : {"", "0", "5"}) {
    EXPECT_EXIT(with_variable(value,
                              [] {
                                wait_until_asleep(nopal::default_pool());
                                return true;
                              }),
                testing::ExitedWithCode(0), "")
        << value;
  }
  for (char const* const value : {"abc", "-1", "1.5", "200ms", "3600001", "99999999999"}) {
    EXPECT_EXIT(with_variable(value, [value] { return default_pool_is_refused(value); }), testing::ExitedWithCode(0), "") << value;
  }
}

}  // namespace
