// pool_options::keep_warm: threads that stay awake for the next loop.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "nopal/algorithm.hpp"
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

}  // namespace
