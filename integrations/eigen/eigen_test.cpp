// Eigen's tensors on nopal: bit for bit what Eigen's own pool of as many threads makes of them, where Eigen promises that.

#define EIGEN_USE_THREADS
#include "nopal_eigen.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <stop_token>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "work.hpp"

namespace {

using test::develop;
using test::multiply;
using test::picture;

template <class Tensor>
bool same(Tensor const& a, Tensor const& b) {
  return a.dimensions() == b.dimensions() && std::memcmp(a.data(), b.data(), sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
}

TEST(eigen, makes_the_same_of_the_same) {
  test::on_pools([](nopal::pool& pool) {
    nopal::eigen_pool workers{pool};
    int const threads = static_cast<int>(pool.workers());
    EXPECT_EQ(workers.NumThreads(), threads);
    Eigen::ThreadPool own(threads);
    Eigen::ThreadPoolDevice const its(&own, threads), ours(&workers, threads);
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(same(develop(its), develop(ours)));
      EXPECT_TRUE(same(multiply(its), multiply(ours)));  // of whole numbers: any order of the sums
    }
  });
}

// As many tensors at once as would block all workers, more than twice over.
TEST(eigen, nests_by_block_on) {
  nopal::pool pool{{.workers = 2}};
  nopal::eigen_pool workers{pool};
  Eigen::ThreadPoolDevice const device(&workers, workers.NumThreads());
  picture const expected = develop(device);
  auto const right = [&] { return nopal::block_on([&] { return same(develop(device), expected); }); };
  EXPECT_EQ(test::right_at_once(pool, right), test::places);
}

// Eigen waits for the end of each part: one that ends early by a request would never be reported.
TEST(eigen, parts_are_not_asked_to_stop) {
  nopal::pool pool{{.workers = 2}};
  nopal::eigen_pool workers{pool};
  std::stop_source source;
  source.request_stop();
  std::atomic<int> asked{0};
  nopal::counter left{2};
  auto const part = [&] {
    asked += nopal::stop_requested();
    left.done();
  };
  auto const schedule = [&] { nopal::with_stop(source.get_token(), [&] { workers.Schedule(part); }); };
  schedule();
  pool.run(schedule);
  nopal::wait_for(left);
  EXPECT_EQ(asked, 0);
}

TEST(eigen, knows_its_threads) {
  nopal::pool pool{{.workers = 3}}, other{{.workers = 1}};
  nopal::eigen_pool workers{pool};
  EXPECT_EQ(workers.CurrentThreadId(), -1);
  EXPECT_EQ(other.run([&] { return workers.CurrentThreadId(); }), -1);
  int const id = pool.run([&] { return workers.CurrentThreadId(); });
  EXPECT_TRUE(id >= 0 && id < 3) << id;
}

}  // namespace
