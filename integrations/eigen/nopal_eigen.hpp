#pragma once

// Eigen's tensors on nopal: a ThreadPoolDevice whose work runs on the workers of a pool. README.md beside this says how to use it. Needs:
// Eigen 3.3 or newer, with <unsupported/Eigen/CXX11/ThreadPool>.

#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

#include <functional>
#include <unsupported/Eigen/CXX11/ThreadPool>
#include <utility>

namespace nopal {

/// What an Eigen::ThreadPoolDevice is made of:
///
///     nopal::eigen_pool workers{pool};
///     Eigen::ThreadPoolDevice device{&workers, workers.NumThreads()};
///     c.device(device) = a.contract(b, dims);
///
/// Eigen waits for its parts with a condition variable of the standard library, which blocks the thread. On a thread off the pool that is
/// right. On a worker write nopal::block_on([&] { c.device(device) = ...; }): then the worker runs other jobs meanwhile, and tensors in
/// tasks do not wait for each other for ever where all workers wait.
class eigen_pool final : public Eigen::ThreadPoolInterface {
 public:
  /// Works on `p`, which outlives it.
  explicit eigen_pool(pool& p = default_pool()) noexcept : pool_{p} {}

  /// Gives `f` to some worker. Nothing in it is asked to stop, though the caller may be: Eigen waits for what `f` does last. An exception that
  /// leaves it ends the program with a message. Throws std::bad_alloc.
  void Schedule(std::function<void()> f) override {
    without_stop([&] { pool_.detach(std::move(f)); });
  }
  /// The pool's workers.
  int NumThreads() const override { return static_cast<int>(pool_.workers()); }
  /// Which worker the caller is, from 0; on other threads -1.
  int CurrentThreadId() const override { return pool::current() == &pool_ ? static_cast<int>(this_worker::index_or(0)) : -1; }

 private:
  pool& pool_;
};

}  // namespace nopal
