// Loops and reductions end early after a request to stop, on any workers.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/algorithm/reduce.hpp>
#include <nopal/core/base/sync.hpp>
#include <nopal/native.hpp>
#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

namespace {

constexpr std::int64_t for_ever = std::int64_t{1} << 60;

// Runs f in a job that gets a request to stop once f has counted up.
template <class F>
void expect_stopped(nopal::pool& pool, F f) {
  std::stop_source source;
  std::atomic<long> begun{0};
  auto result = pool.submit(source.get_token(), [&] { f(begun); });
  while (begun == 0) std::this_thread::yield();
  source.request_stop();
  EXPECT_THROW(result.get(), nopal::stopped);
}

class loops_stop : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, loops_stop, testing::Values(1U, 2U, 4U));

TEST_P(loops_stop, parallel_for) {
  nopal::pool pool{{.workers = GetParam()}};
  expect_stopped(pool, [](std::atomic<long>& begun) {
    nopal::parallel_for(std::int64_t{0}, for_ever, [&](std::int64_t) { begun.store(1, std::memory_order_relaxed); });
  });
}

// The loops before this one taught the engine that an iteration of this body takes a nanosecond. Now it takes a thousand times as long.
TEST_P(loops_stop, soon_also_if_iterations_take_longer_than_before) {
  nopal::pool pool{{.workers = GetParam()}};
  std::stop_source source;
  std::atomic<bool> asked{false};  // once the pool has been told: between the request and that this thread may lose its CPU
  std::atomic<long> after{0};
  auto const loop = [&](std::int64_t n, int spins) {
    nopal::parallel_for(std::int64_t{0}, n, [&after, &asked, &source, spins](std::int64_t i) {
      for (int k = 0; k < spins; ++k) nopal::core::cpu_relax();
      if (spins == 0) return;
      if (i == 5'000) {
        source.request_stop();
        asked.store(true, std::memory_order_relaxed);
      }
      if (asked.load(std::memory_order_relaxed)) after.fetch_add(1, std::memory_order_relaxed);
    });
  };
  for (int k = 0; k < 3; ++k) pool.run(loop, 1'000'000, 0);
  EXPECT_THROW(nopal::with_stop(source.get_token(), [&] { pool.run(loop, for_ever, 30); }), nopal::stopped);
  EXPECT_GT(after.load(), 0);
  EXPECT_LT(after.load(), 5000 * static_cast<long>(GetParam()));
}

TEST_P(loops_stop, parallel_for_in_two_dimensions_and_nested) {
  nopal::pool pool{{.workers = GetParam()}};
  expect_stopped(pool, [](std::atomic<long>& begun) {
    nopal::parallel_for(0, 1 << 20, 0, 1 << 20,
                        [&](int, int) { nopal::parallel_for(0, 1 << 20, [&](int) { begun.store(1, std::memory_order_relaxed); }); });
  });
}

TEST_P(loops_stop, blocks) {
  nopal::pool pool{{.workers = GetParam()}};
  expect_stopped(pool, [](std::atomic<long>& begun) {
    nopal::parallel_for_blocks(std::int64_t{0}, for_ever, [&](std::int64_t, std::int64_t) { begun = 1; }, nopal::grain{1000});
  });
}

TEST_P(loops_stop, reductions) {
  nopal::pool pool{{.workers = GetParam()}};
  std::vector<int> const numbers(100'000, 1);
  std::stop_source source;
  std::atomic<long> begun{0};
  auto result = pool.submit(source.get_token(), [&] {
    return nopal::transform_reduce(numbers, 0, std::plus<>{}, [&](int k) {
      begun = 1;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      return k;
    });
  });
  while (begun == 0) std::this_thread::yield();
  source.request_stop();
  EXPECT_THROW(static_cast<void>(result.get()), nopal::stopped);
}

TEST_P(loops_stop, not_unless_they_are_asked) {
  nopal::pool pool{{.workers = GetParam()}};
  std::stop_source source;
  std::atomic<long> sum{0};
  pool.submit(source.get_token(), [&] { nopal::parallel_for(0L, 10'000L, [&](long k) { sum += k; }); }).get();
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
}

TEST_P(loops_stop, what_has_thrown_before_them) {
  nopal::pool pool{{.workers = GetParam()}};
  std::atomic<bool> begun{false};
  bool const two = GetParam() > 1;
  EXPECT_THROW(pool.run([&] {
    nopal::parallel_invoke(
        [&] {
          while (two && !begun) std::this_thread::yield();
          throw std::logic_error{"serially first"};
        },
        [&] { nopal::parallel_for(std::int64_t{0}, for_ever, [&](std::int64_t) { begun.store(true, std::memory_order_relaxed); }); });
  }),
               std::logic_error);
}

TEST(loops_stop_off_a_pool, where_they_were_called) {
  std::stop_source source;
  std::atomic<long> begun{0};
  std::thread current_identity{[&] {
    while (begun == 0) std::this_thread::yield();
    source.request_stop();
  }};
  EXPECT_THROW(
      nopal::with_stop(
          source.get_token(),
          [&] { nopal::parallel_for(std::int64_t{0}, for_ever, [&](std::int64_t) { begun.store(1, std::memory_order_relaxed); }); }),
      nopal::stopped);
  current_identity.join();
}

// A loop that is known to be short runs without polls, but not on a thread that may get a request to stop.
TEST(loops_stop_off_a_pool, which_are_short_as_well) {
  std::atomic<int> begun = 0;
  auto const loop = [&begun] { nopal::parallel_for(0, 100, [&begun](int) { ++begun; }); };
  for (int k = 0; k < 5; ++k) loop();
  std::stop_source source;
  EXPECT_THROW(nopal::with_stop(source.get_token(),
                                [&] {
                                  loop();
                                  nopal::default_pool().run([] {});  // during which this thread may be a worker
                                  loop();
                                  source.request_stop();
                                  loop();
                                }),
               nopal::stopped);
  EXPECT_EQ(begun, 700);
  loop();
  EXPECT_EQ(begun, 800);
}

}  // namespace
