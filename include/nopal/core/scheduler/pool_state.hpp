#pragma once

// What the workers of one pool share. Plain data: each part is used by the rooms that know it. scheduler.hpp makes it; worker.hpp and all above
// refer to it.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/scheduler/controlled_schedule.hpp"
#include "nopal/core/sleep/parking.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/task/central_stacklet_list.hpp"
#include "nopal/options.hpp"

namespace nopal {
class pool;
}

namespace nopal::core {

struct frame;
class timer;
class worker;

/// What was submitted and has not finished: the pool's end waits for it. Any thread.
class pending_work {
 public:
  /// A root was submitted, or a thread from outside is about to wake a stack.
  void started() noexcept {
    std::lock_guard const guard{mutex_};
    ++pending_;
    ++submitted_;
  }
  /// Once for each started(). By a root: before its waiter may leave.
  NOPAL_API void finished() noexcept;
  /// Waits until nothing is pending. How much has been submitted so far.
  std::uint64_t wait() noexcept;
  /// Is nothing pending, and has nothing been submitted since wait() gave this number?
  bool none_since(std::uint64_t submitted) noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::uint64_t pending_ = 0;
  std::uint64_t submitted_ = 0;
};

/// Where lower rooms call into higher ones, which know them: set once, by scheduler.cpp.
struct entry_points {
  /// The body of a fresh native stack, from its base: searches for work until the worker's thread is to end, and never returns.
  void (*search)(context& stack) noexcept;
  /// Runs a stolen task.
  void (*run_stolen_task)(worker& w, frame& f) noexcept;
  /// Resumes a native stack that was left at a fork of a scope.
  resumable::run_function run_left_stack;
};

struct pool_state {
  pool_state(pool_options const& options, unsigned workers, std::vector<place> where, std::unique_ptr<controlled_schedule> c, timer& t,
             entry_points e);
  pool_state(pool_state const&) = delete;
  pool_state& operator=(pool_state const&) = delete;

  entry_points const call;
  bool const steals;
  nopal::idle const idle;
  std::string const name;  ///< "nopal", if nobody has said
  std::unique_ptr<controlled_schedule> const control;  ///< null, unless the schedule is controlled

  central_stacklet_list stacklets;
  stack_pool stacks;
  central_block_list blocks;
  core::timer& timer;

  std::vector<place> const places;  ///< of each worker
  std::vector<worker*> workers;     ///< complete before anything runs
  core::parking parking;
  std::atomic<bool> stopping{false};
  pending_work pending;
  std::atomic<std::uint64_t> spawned_outside{0};  ///< fibers, by threads that do not work for this pool
  std::atomic<unsigned> next_worker{0};  ///< where the next search for a worker begins
  bool pinned = false;                   ///< each worker's thread has its CPU
  pool* owner = nullptr;                 ///< what pool::current() says; set before anything runs

  unsigned size() const noexcept { return static_cast<unsigned>(workers.size()); }
};

}  // namespace nopal::core
