// Halide on nopal: bit for bit what Halide's own threads make.

#include "nopal_halide.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "work.hpp"

namespace {

std::atomic<int> loops{0}, on_workers{0};

int counted(void* context, halide_task_t task, int first, int count, std::uint8_t* closure) {
  ++loops;
  on_workers += nopal::pool::current() != nullptr;
  return nopal::halide_par_for(context, task, first, count, closure);
}

/// Halide's loops run on nopal while this lives, else on Halide's own threads.
class on_nopal {
 public:
  on_nopal() : before_{halide_set_custom_do_par_for(counted)} {}
  ~on_nopal() { halide_set_custom_do_par_for(before_); }
  on_nopal(on_nopal const&) = delete;
  on_nopal& operator=(on_nopal const&) = delete;

 private:
  halide_do_par_for_t before_;
};

TEST(halide, makes_the_same_of_the_same) {
  auto input = test::noise(160, 120);
  auto const expected = test::blurred(input);
  ASSERT_EQ(expected.width(), 160);
  test::on_pools([&](nopal::pool& pool) {
    on_nopal const here;
    int const loops_before = loops, workers_before = on_workers;
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(pool.run([&] { return test::same(test::blurred(input), expected); }));
    }
    EXPECT_EQ(loops - loops_before, 10);
    EXPECT_EQ(on_workers - workers_before, 10);
  });
  on_nopal const here;
  EXPECT_TRUE(test::same(test::blurred(input), expected));  // on default_pool()
}

TEST(halide, nests) {
  auto input = test::noise(100, 60);
  auto const expected = test::blurred(input);
  nopal::pool pool{{.workers = 3}};
  on_nopal const here;
  EXPECT_EQ(test::right_at_once(pool, [&] { return test::same(test::blurred(input), expected); }), test::places);
}

TEST(halide, runs_to_the_end_where_it_is_asked_to_stop) {
  auto input = test::noise(100, 60);
  auto const expected = test::blurred(input);
  auto const right = [&](on_nopal const&) { return test::same(test::blurred(input), expected); };
  EXPECT_EQ(test::right_where_stopped([](nopal::pool&) { return on_nopal{}; }, right), test::stops);
}

TEST(halide, is_told_what_fails) {
  nopal::pool pool{{.workers = 2}};
  std::uint8_t closure = 0;
  auto const third_fails = [](void*, int i, std::uint8_t*) { return i == 12 ? 7 : 0; };
  halide_task_t const task = third_fails;
  EXPECT_EQ(pool.run([&] { return nopal::halide_par_for<void>(nullptr, task, 10, 5, &closure); }), 7);
  EXPECT_EQ(pool.run([&] { return nopal::halide_par_for<void>(nullptr, task, 10, 2, &closure); }), 0);
  EXPECT_EQ(pool.run([&] { return nopal::halide_par_for<void>(nullptr, task, 12, 0, &closure); }), 0);
}

}  // namespace
