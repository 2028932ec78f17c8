// Eigen's tensors on nopal: bit for bit what Eigen's own pool of as many threads makes of them, where Eigen promises that.

#define EIGEN_USE_THREADS
#include "nopal_eigen.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include <nopal/nopal.hpp>

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
  for (unsigned const threads : {1u, 2u, 3u}) {
    Eigen::ThreadPool own(static_cast<int>(threads));
    Eigen::ThreadPoolDevice const its(&own, static_cast<int>(threads));
    nopal::pool pool{{.workers = threads}};
    nopal::eigen_pool workers{pool};
    EXPECT_EQ(workers.NumThreads(), static_cast<int>(threads));
    Eigen::ThreadPoolDevice const ours(&workers, workers.NumThreads());
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(same(develop(its), develop(ours)));
      EXPECT_TRUE(same(multiply(its), multiply(ours)));  // of whole numbers: any order of the sums
    }
  }
}

// As many tensors at once as would block all workers, twice over.
TEST(eigen, nests_by_block_on) {
  nopal::pool pool{{.workers = 2}};
  nopal::eigen_pool workers{pool};
  Eigen::ThreadPoolDevice const device(&workers, workers.NumThreads());
  picture const expected = develop(device);
  std::atomic<int> right{0};
  pool.run([&] {
    nopal::parallel_for(0, 4, [&](int) { right += nopal::block_on([&] { return same(develop(device), expected); }); }, nopal::grain{1});
  });
  nopal::counter left;
  for (int k = 0; k < 4; ++k) pool.spawn(left, [&] { right += nopal::block_on([&] { return same(develop(device), expected); }); });
  nopal::wait_for(left);
  EXPECT_EQ(right, 8);
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
