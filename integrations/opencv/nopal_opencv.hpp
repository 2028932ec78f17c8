#pragma once

// OpenCV's parallel_for_ on nopal: all of OpenCV's loops fork on the workers of a pool. README.md beside this says how to use it. Needs:
// OpenCV 4.5.2 or newer.

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/pool.hpp>

#include <atomic>
#include <memory>
#include <opencv2/core/parallel/parallel_backend.hpp>

namespace nopal {

/// What cv::parallel::setParallelForBackend is given, once, before other threads use OpenCV:
///
///     cv::parallel::setParallelForBackend(std::make_shared<nopal::opencv_backend>(pool));
///
/// While one loop runs, OpenCV runs all others serially, whatever the backend: so pictures that are worked on at once fork as far as the caller
/// forks, and no thread is added.
class opencv_backend final : public cv::parallel::ParallelForAPI {
 public:
  /// Works on `p`, which outlives it.
  explicit opencv_backend(pool& p = default_pool()) noexcept : pool_{p}, threads_{static_cast<int>(p.workers())} {}

  /// Calls body(i, i + 1, data) for each i of [0, tasks), some at once; after setNumThreads(1), in order. Rethrows what one of them throws,
  /// and throws nopal::stopped where the caller is asked to stop: it leaves OpenCV's function, as an exception of a body does.
  void parallel_for(int tasks, FN_parallel_for_body_cb_t body, void* data) override {
    if (threads_.load(std::memory_order_relaxed) == 1) return body(0, tasks, data);  // relaxed: a setting
    auto const loop = [&] { nopal::parallel_for(0, tasks, [&](int i) { body(i, i + 1, data); }, grain{1}); };
    pool::current() == &pool_ ? loop() : pool_.run(loop);
  }
  /// Which worker the caller is, from 0; on other threads 0.
  int getThreadNum() const override { return pool::current() == &pool_ ? static_cast<int>(this_worker::index_or(0)) : 0; }
  int getNumThreads() const override { return threads_.load(std::memory_order_relaxed); }  // relaxed: a setting
  /// 1 makes loops serial; all else, the pool's workers. Returns what held before.
  int setNumThreads(int n) override {
    return threads_.exchange(n == 1 ? 1 : static_cast<int>(pool_.workers()), std::memory_order_relaxed);  // relaxed: a setting
  }
  char const* getName() const override { return "nopal"; }

 private:
  pool& pool_;
  std::atomic<int> threads_;
};

}  // namespace nopal
