#pragma once

// The scheduler of one pool, from its start to its end: it reads the machine, makes the workers and their threads, and stops them. Made and
// destroyed by a thread outside the pool. README.md, "Start" and "The end of a pool". Next: pool_state.hpp, what the workers share;
// search.hpp, what they do.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/blocking_threads.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/options.hpp"
#include "nopal/stats.hpp"

namespace nopal::inline NOPAL_ABI::core {

class NOPAL_API scheduler {
  struct by_new_names;  // the options
  struct site;          // what the constructor learns of the machine
  explicit scheduler(by_new_names const& o);

 public:
  /// Throws std::invalid_argument for options that cannot be met, std::system_error if threads cannot be made or put on their CPUs.
  explicit scheduler(pool_options const& options);
  scheduler(scheduler const&) = delete;
  scheduler& operator=(scheduler const&) = delete;
  /// Waits for everything that was submitted and spawned, and ends the threads. By a thread outside the pool, in the process that made it.
  ~scheduler();
  /// Destroys `s`; by the destructor of a pool. It neither waits nor frees anything in the child of a fork, which has none of the threads,
  /// and where a static pool is destroyed since one of its own jobs has called exit. If a job destroys its pool otherwise, it ends the
  /// program with a message.
  static void end(scheduler* s) noexcept;

  /// Waits for everything, and for calls of run, and ends the threads. False: `deadline` has passed first, and nothing has happened. Work
  /// that arrives later, or in between, starts the threads again. For the default pool, by a thread outside it.
  bool end_threads(time_point deadline) noexcept;
  /// Starts the threads again, if end_threads has ended them. Under default_pool_changes. Throws std::system_error.
  void need_threads();
  /// Keeps `s` for the life of the process, where a leak checker finds it. Once.
  static void keep(scheduler& s) noexcept;
  /// The process ends: tells a leak checker of all kept pools.
  static void note_kept_for_leak_check() noexcept;
  static void tell_kept() noexcept;

  pool_state& state() noexcept { return state_; }
  pool_state const& state() const noexcept { return state_; }
  /// Sets what pool::current() returns on its workers. Before any job is given to them.
  void belongs_to(pool& p) noexcept;
  unsigned workers() const noexcept { return state_.size(); }
  /// i < workers()
  worker& at(unsigned i) const noexcept { return *state_.workers[i]; }

 private:
  scheduler(pool_options const& options, site&& s);
  void make_worker(unsigned i, pool_options const& o, topology const& machine, bool fence);
  void start_threads();
  void start_thread(unsigned i);
  void place_this_thread(unsigned i) noexcept;
  void wait_until_placed(unsigned i);
  void run_thread(unsigned i) noexcept;
  void stop() noexcept;
  static void find_threads(pool_state& pool) noexcept;

  std::optional<stack_overflow_handler> handler_{std::in_place};  // made first, destroyed last
  core::timer timer_;
  blocking_threads blocking_;
  std::function<void(unsigned)> const on_thread_start_, on_thread_stop_;
  pool_state state_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::thread> threads_;
  bool const may_pin_;           // the options and the machine allow it
  bool const may_move_;          // the same without the whole machine: threads may be moved while they are idle
  std::vector<int> const only_;  // the CPUs of the pool's place; empty: all that the process may use
  bool const asked_to_pin_;
  scheduler* next_kept_ = nullptr;  // see keep
  bool holds_pin_ = false;          // this is the pool of the process that pins by default

  static constexpr std::uint32_t not_placed = ~std::uint32_t{0};
  std::atomic<std::uint32_t> placed_{not_placed};  // result of the move of the thread that begins: 0, or an error number
};

// The numbers of a pool, read while it runs, by any thread. Next: ../../stats.hpp, what users see.

/// Reads all numbers, each at its own moment. Throws std::bad_alloc. O(workers + native stacks); a mincore for every 2 MiB of a stack that
/// was used.
NOPAL_API stats read_stats(pool_state const& pool);

// How pools depend on their process: its first pool, and its forks. README.md, "The process". Called by the scheduler and by src/pool.cpp.
// Next: threads.hpp, for a fork in a job.

/// Guards which pool is the default pool, and whether its threads run. A thread that forks holds it during the fork. Taken before every
/// other lock of the library.
extern constinit std::mutex default_pool_changes;

/// What the first pool of a process needs: the object that holds this code stays loaded. Also counts forks, if there was no memory for that
/// when the object was loaded. By every thread that makes a pool; not under a lock. Throws std::bad_alloc.
void prepare_process();

}  // namespace nopal::core
