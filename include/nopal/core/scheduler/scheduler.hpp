#pragma once

// The scheduler: the workers of one pool, their threads, and the search for work. The cold half is src/scheduler.cpp.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nopal/core/task/arena.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/sleep/parking.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/scheduler/controlled_schedule.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/options.hpp"
#include "nopal/stats.hpp"

namespace nopal {
class pool;
}

namespace nopal::core {

class NOPAL_API scheduler {
 public:
  /// Of one pool.
  static constexpr unsigned most_workers = 1 << 14;

  explicit scheduler(pool_options const& options);
  scheduler(scheduler const&) = delete;
  scheduler& operator=(scheduler const&) = delete;
  /// Waits for everything submitted.
  ~scheduler();

  /// Runs a root to its end: `done` is what its finish sets. On a thread outside the pool it works in a sleeping worker's place if
  /// there is one, else it blocks; on a worker of this pool it works on top of the caller's strand, and then leaves the stack.
  /// Throws std::bad_alloc, before anything has happened. Never inlined, not even when linking: it takes thread-locals' addresses, which a
  /// compiler may keep across a change of threads in the caller.
  [[gnu::noinline]] void run(root& r, event& done);
  /// The same on a thread that works for no pool, if a worker sleeps in whose place it can. False: nothing has happened.
  [[gnu::noinline]] bool run_if_one_sleeps(root& r, event& done) noexcept;
  /// Lets a worker run it some time.
  void submit(root& r) noexcept;
  /// Blocks until `done`; on a worker of whatever pool the native stack is left, and the worker does something else.
  void wait(event& done) noexcept;
  /// The same on a worker; `why` is for reports.
  static void wait_on(worker& w, event& done, waits_for why) noexcept;
  /// Called once by every finish of a root that was submitted, before its waiter may leave.
  void finished() noexcept;

  /// A task for one worker only.
  void send(move_job& m) noexcept;

  /// What pool::current() says on its workers. Before anything runs there.
  void belongs_to(pool& p) noexcept;
  pool* owner() const noexcept { return owner_; }
  unsigned workers() const noexcept { return static_cast<unsigned>(workers_.size()); }
  worker& at(unsigned i) const noexcept { return *workers_[i]; }
  /// For a task that comes from elsewhere: a sleeping worker if there is one.
  worker& any_worker() noexcept { return *workers_[choose()]; }
  stats read_stats() const;
  /// See pool::report. Throws std::bad_alloc.
  std::string report() const;
  /// What the pool is called: "nopal", if nobody has said.
  std::string const& name() const noexcept { return name_; }

  // For workers.
  /// Lets some worker go on with a stack.
  void resume(waiting_stack& s) noexcept;
  /// The same, after everything that waits for the worker which calls.
  void resume_later(waiting_stack& s) noexcept;
  /// Is anything waiting for that worker?
  bool has_more_for(worker const& w) const noexcept { return !w.work.empty() || !w.ready.empty() || !w.open_.empty() || !w.private_.empty(); }
  /// Starts a fiber from outside.
  void spawn(job& j) noexcept;
  /// The same by a worker of this pool.
  void spawn_again(worker& w, job& j) noexcept;
  stack_pool& stacks() noexcept { return stacks_; }
  core::timer& timer() noexcept { return timer_; }
  /// What a fresh stack runs: the search for work.
  static void on_stack(context& c) noexcept;
  /// And what that of a guest runs: its root first.
  static void on_stack_of_guest(context& c) noexcept;
  /// Searches for work at the caller's own depth of the stack that runs here. For a caller whose frames nobody will return to.
  [[noreturn]] static void stay_on(stack& mine) noexcept;
  bool stealing() const noexcept { return steal_; }
  core::parking& parking() noexcept { return parking_; }
  /// Not null under a forced schedule.
  core::turns* turns() const noexcept { return turns_.get(); }
  /// Under such a one: others may come first here.
  static void step() noexcept;
  /// Puts a started continuation where anyone may take it.
  void give_away(worker& from, continuation c, loose_continuations& memory) noexcept;

 private:
  struct site;  // what the constructor learns of the machine
  explicit scheduler(pool_options const& options, site&& s);

  void start_thread(unsigned i);
  void stop() noexcept;
  void wait_for_all() noexcept;
  std::uint64_t fibers_finished() const noexcept;
  std::uint64_t fibers_spawned() const noexcept;
  void started() noexcept;
  unsigned choose() noexcept;
  unsigned borrow() noexcept;
  NOPAL_COLD unsigned borrow_another() noexcept;
  void put(job& j, unsigned i) noexcept;

  void loop(unsigned i) noexcept;
  [[noreturn]] static void leave_for_home(stack& mine) noexcept;
  void work(stack& mine) noexcept;
  bool work_once(worker& w, stack& mine) noexcept;
  bool work_as_guest(worker& w) noexcept;
  bool work_in_turn(worker& w) noexcept;
  bool find_and_run(worker& w, root const* only) noexcept;
  bool run_private(worker& w) noexcept;
  bool run_ready(worker& w) noexcept;
  void retract_ready(worker& w) noexcept;
  void start_ready(worker& w, continuation c) noexcept;
  bool take_jobs(worker& w, inbox& from) noexcept;
  bool steal_from(worker& w, worker& victim, root const* only) noexcept;
  void stop_looking(worker& w) noexcept;
  bool nothing_can_run() const noexcept;
  static void warn_if_stuck(void* self) noexcept;
  bool run_as_guest(root& r, event& done) noexcept;
  void run_on(worker& w, root& r, event& done);
  void run_elsewhere(root& r, event& done) noexcept;
  bool must_stay(unsigned i) const noexcept;

  stack_overflow_handler handler_;  // first made, last gone
  pool* owner_ = nullptr;
  bool steal_;
  nopal::idle idle_;
  std::string const name_;
  std::unique_ptr<core::turns> const turns_;
  stacklet_depot depot_;
  stack_pool stacks_;
  block_depot blocks_;
  mutable core::timer timer_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<place> places_;
  core::parking parking_;
  bool pinned_ = false;     // each thread has its CPU
  bool holds_pin_ = false;  // and this is the pool of the process that pins by default
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> turn_{0};
  std::mutex pending_mutex_;
  std::condition_variable none_pending_;
  std::uint64_t pending_ = 0;  // roots submitted and not finished, and threads from outside that wake a stack
  std::uint64_t submitted_ = 0;
  std::atomic<std::uint64_t> spawned_outside_{0};  // fibers
  std::vector<std::thread> threads_;
};

/// That of default_pool(), and throws what that does.
NOPAL_API NOPAL_COLD scheduler& default_scheduler();

inline void waiting_stack::resume() noexcept { pool->resume(*this); }

}  // namespace nopal::core
