// Pictures worked on by OpenCV on nopal: byte for byte what its own threads make of them.

#include "nopal_opencv.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include <nopal/nopal.hpp>
#include <opencv2/core.hpp>
#include <opencv2/core/parallel/parallel_backend.hpp>
#include <opencv2/core/utility.hpp>

#include "../harness.hpp"
#include "work.hpp"

namespace {

using test::photograph;
using test::work;

bool same(cv::Mat const& a, cv::Mat const& b) { return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0; }

/// Each test has its own pool; the first result is that of OpenCV's own threads.
class opencv : public testing::Test {
 protected:
  static cv::Mat const& expected() {
    static cv::Mat const m = work(photograph());
    return m;
  }
  void use(nopal::pool& p) {
    static_cast<void>(expected());
    cv::parallel::setParallelForBackend(std::make_shared<nopal::opencv_backend>(p), false);
  }
  void TearDown() override { cv::parallel::setParallelForBackend(std::shared_ptr<cv::parallel::ParallelForAPI>{}); }
};

TEST_F(opencv, makes_the_same_picture) {
  test::on_pools([&](nopal::pool& pool) {
    use(pool);
    EXPECT_EQ(cv::getNumThreads(), static_cast<int>(pool.workers()));
    EXPECT_TRUE(same(work(photograph()), expected()));
    EXPECT_TRUE(pool.run([&] { return same(work(photograph()), expected()); }));
  });
}

// Pictures at once, whose loops fork on the same workers.
TEST_F(opencv, nests_in_all_that_runs_on_the_pool) {
  nopal::pool pool{{.workers = 2}};
  use(pool);
  EXPECT_EQ(test::right_at_once(pool, [&] { return same(work(photograph()), expected()); }), test::places);
}

TEST_F(opencv, loops_in_loops_are_run_once) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  use(pool);
  std::vector<std::atomic<int>> hits(400);
  cv::parallel_for_({0, 20}, [&](cv::Range const& rows) {
    for (int r = rows.start; r < rows.end; ++r) {
      cv::parallel_for_({0, 20}, [&](cv::Range const& columns) {
        for (int c = columns.start; c < columns.end; ++c) ++hits[static_cast<std::size_t>(r * 20 + c)];
      });
    }
  });
  for (auto const& h : hits) EXPECT_EQ(h, 1);
}

TEST_F(opencv, exceptions_come_out) {
  nopal::pool pool{{.workers = 2}};
  use(pool);
  EXPECT_THROW(cv::parallel_for_({0, 100},
                                 [](cv::Range const& r) {
                                   if (r.start >= 50) throw std::runtime_error{"in a loop"};
                                 }),
               std::exception);
}

// OpenCV's functions end by exceptions of bodies, and so by this one. Later loops are parallel as before.
TEST_F(opencv, ends_where_it_is_asked_to_stop) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  use(pool);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(nopal::with_stop(source.get_token(), [] { work(photograph()); }), nopal::stopped);
  auto const before = pool.stats().steals;
  EXPECT_TRUE(same(work(photograph()), expected()));
  EXPECT_GT(pool.stats().steals, before);
}

TEST_F(opencv, one_thread_is_serial) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  use(pool);
  cv::setNumThreads(1);
  auto const before = pool.stats().steals;
  EXPECT_TRUE(same(work(photograph()), expected()));
  EXPECT_EQ(pool.stats().steals, before);
}

}  // namespace
