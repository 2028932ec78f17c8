// FFTW on nopal: bit for bit what FFTW's own threads make with a plan of as many parts.

#include "nopal_fftw.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "work.hpp"

namespace {

/// FFTW with threads, whose loops run on `pool` while this lives, else on its own threads.
class on {
 public:
  explicit on(nopal::pool& pool) : loops_{pool} {
    fftw_init_threads();
    fftw_threads_set_callback(&on::run, this);
  }
  ~on() { fftw_threads_set_callback(nullptr, nullptr); }
  on(on const&) = delete;
  on& operator=(on const&) = delete;
  int loops() const { return runs_; }

 private:
  static void run(void* (*work)(char*), char* jobs, std::size_t size, int count, void* self) {
    ++static_cast<on*>(self)->runs_;
    nopal::fftw_loops::run(work, jobs, size, count, &static_cast<on*>(self)->loops_);
  }
  nopal::fftw_loops loops_;
  std::atomic<int> runs_{0};
};

TEST(fftw, makes_the_same_of_the_same) {
  fftw_init_threads();
  auto const input = test::square(192);
  auto const plan = test::make_plan(192, 4);
  auto const expected = test::transformed(plan, input);
  test::on_pools([&](nopal::pool& pool) {
    on const nopal{pool};
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(test::transformed(plan, input), expected);
      EXPECT_EQ(pool.run([&] { return test::transformed(plan, input); }), expected);
    }
    EXPECT_GE(nopal.loops(), 10);
  });
}

TEST(fftw, nests) {
  fftw_init_threads();
  auto const input = test::square(128);
  auto const plan = test::make_plan(128, 4);
  auto const expected = test::transformed(plan, input);
  nopal::pool pool{{.workers = 3}};
  on const nopal{pool};
  EXPECT_EQ(test::right_at_once(pool, [&] { return test::transformed(plan, input) == expected; }), test::places);
  EXPECT_GE(nopal.loops(), test::places);
}

TEST(fftw, runs_to_the_end_where_it_is_asked_to_stop) {
  fftw_init_threads();
  auto const input = test::square(128);
  auto const plan = test::make_plan(128, 4);
  auto const expected = test::transformed(plan, input);
  auto const right = [&](on const&) { return test::transformed(plan, input) == expected; };
  EXPECT_EQ(test::right_where_stopped([](nopal::pool& pool) { return on{pool}; }, right), test::stops);
}

// FFTW's planner takes one call at a time. While it measures it loops, and the job that has called it may move to another thread.
TEST(fftw, plans_by_measuring_under_a_mutex) {
  fftw_init_threads();
  fftw_set_timelimit(0.05);
  auto const input = test::square(32);
  nopal::pool pool{{.workers = 3}};
  on const nopal{pool};
  auto const expected = test::transformed(test::make_plan(32, 2), input);
  int const loops_before = nopal.loops();
  nopal::mutex planner;
  std::atomic<int> good{0};
  pool.run([&] {
    nopal::parallel_for(
        0, 4,
        [&](int) {
          test::plan plan;
          {
            std::lock_guard const lock{planner};
            plan = test::make_plan(32, 2, FFTW_MEASURE);
          }
          good += test::near(test::transformed(plan, input), expected);
          std::lock_guard const lock{planner};
          plan.reset();
        },
        nopal::grain{1});
  });
  EXPECT_EQ(good, 4);
  EXPECT_GT(nopal.loops(), loops_before);
}

}  // namespace
