// A photograph encoded and decoded on nopal: byte for byte what libjxl's own threads make of it.

#include "nopal_jxl.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include <jxl/thread_parallel_runner.h>
#include <jxl/thread_parallel_runner_cxx.h>
#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "codec.hpp"

namespace {

using test::bytes;
using test::image;

test::runner on(nopal::jxl_runner& r) { return {nopal::jxl_runner::run, &r}; }

image const& photograph() {
  static image const i = test::read_photograph().part(0, 0, 1100, 700);
  return i;
}
bytes const& encoded_alone() {
  static bytes const b = test::encode(photograph(), {});
  return b;
}

TEST(jxl, encodes_and_decodes_as_its_own_threads_do) {
  auto const own = JxlThreadParallelRunnerMake(nullptr, 2);
  test::runner const threads{JxlThreadParallelRunner, own.get()};
  ASSERT_EQ(test::encode(photograph(), threads), encoded_alone());
  image const decoded = test::decode(encoded_alone(), threads);
  auto const same_on = [&](nopal::pool& pool) {
    nopal::jxl_runner r{pool};
    EXPECT_EQ(test::encode(photograph(), on(r)), encoded_alone());
    EXPECT_EQ(test::decode(encoded_alone(), on(r)), decoded);
  };
  test::on_pools(same_on);
  nopal::pool large{{.workers = 70}};
  same_on(large);
}

// Images at once, each of which forks on the same two workers and with one runner.
TEST(jxl, nests_in_all_that_runs_on_the_pool) {
  image const small = photograph().part(0, 0, 500, 400);
  bytes const expected = test::encode(small, {});
  nopal::pool pool{{.workers = 2}};
  nopal::jxl_runner r{pool};
  EXPECT_EQ(test::right_at_once(pool, [&] { return test::encode(small, on(r)) == expected; }), test::places);
}

TEST(jxl, runs_to_the_end_where_it_is_asked_to_stop) {
  image const small = photograph().part(0, 0, 500, 400);
  bytes const expected = test::encode(small, {});
  auto const right = [&](nopal::jxl_runner& r) { return test::encode(small, on(r)) == expected; };
  EXPECT_EQ(test::right_where_stopped([](nopal::pool& pool) { return nopal::jxl_runner{pool}; }, right), test::stops);
}

// The contract of a JxlParallelRunner, without libjxl.
struct calls {
  std::size_t numbers = 0;
  std::array<std::atomic<int>, 1000> of_value{};
  std::array<std::atomic<int>, 8> of_number{};
  std::atomic<int> wrong{0};
};
TEST(jxl, each_value_is_called_once_and_no_number_twice_at_once) {
  nopal::pool pool{{.workers = 3}};
  nopal::jxl_runner r{pool};
  for (int round = 0; round < 20; ++round) {
    calls c;
    auto const init = [](void* self, std::size_t n) {
      static_cast<calls*>(self)->numbers = n;
      return 0;
    };
    auto const func = [](void* self, std::uint32_t value, std::size_t number) {
      calls& mine = *static_cast<calls*>(self);
      ++mine.of_value[value];
      if (number >= mine.numbers || mine.of_number[number].exchange(1) != 0) ++mine.wrong;
      if (value % 7 == 0) std::this_thread::yield();
      mine.of_number[number] = 0;
    };
    ASSERT_EQ(nopal::jxl_runner::run(&r, &c, init, func, 10, 900), 0);
    EXPECT_EQ(c.numbers, 4u);
    EXPECT_EQ(c.wrong, 0);
    for (std::size_t k = 0; k < c.of_value.size(); ++k) EXPECT_EQ(c.of_value[k], k >= 10 && k < 900 ? 1 : 0) << k;
  }
}
TEST(jxl, what_init_refuses_is_handed_on) {
  nopal::pool pool{{.workers = 2}};
  nopal::jxl_runner r{pool};
  auto const refuse = [](void*, std::size_t) { return 17; };
  auto const agree = [](void*, std::size_t) { return 0; };
  auto const never = [](void*, std::uint32_t, std::size_t) { ADD_FAILURE() << "was called"; };
  EXPECT_EQ(nopal::jxl_runner::run(&r, nullptr, refuse, never, 0, 9), 17);
  EXPECT_EQ(nopal::jxl_runner::run(&r, nullptr, agree, never, 9, 9), 0);
}

}  // namespace
