#pragma once

// The pools that the process has: for reports on a signal (src/report/report_on_signal.cpp) and for debuggers. A pool enters the list when
// all of it but its threads is made, and leaves the list when nothing waits on it any more. Below: the queues and lists of a pool, and the
// state of a pool, which has one of each.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nopal/core/base/process.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/scheduler/pending_work.hpp"
#include "nopal/core/sleep/parking.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/arena.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// A pool's place in the list.
class live_pool {
 public:
  live_pool() = default;
  live_pool(live_pool const&) = delete;
  live_pool& operator=(live_pool const&) = delete;
  ~live_pool() { leave(); }

  /// `mine`: the pool that this is a part of. Once. `name` stays as long.
  void enter(pool_state const& mine, char const* name) noexcept;
  /// Waits while for_each runs. Does nothing if the pool is not in the list.
  void leave() noexcept;

  /// Calls f(pool) for each pool, the newest first, under the list's lock, so no pool leaves. A pool may belong to the parent of a fork.
  template <class F>
  static void for_each(F f) {
    std::lock_guard const guard{mutex_};
    for (live_pool const* p = first_; p != nullptr; p = p->next_) f(*p->pool_);
  }

  // ---- Around a fork, by the thread that forks: the list is locked in between.

  static void before_fork() noexcept { mutex_.lock(); }
  static void after_fork() noexcept { mutex_.unlock(); }

 private:
  friend struct debug_layout;

  static inline constinit std::mutex mutex_;
  static inline constinit live_pool* first_ = nullptr;

  pool_state const* pool_ = nullptr;
  char const* name_ = nullptr;  ///< the pool's, for debuggers
  live_pool* next_ = nullptr;
  live_pool** in_ = nullptr;  ///< the pointer to this entry; null: it is not in the list
};

// A queue of what comes before or after all other work, the oldest first: stacks whose time limit has expired or whose event has come, work
// of high priority, work of low priority. A worker takes one at a time, so that all free workers share them and none waits behind other
// work. Below: the three. Next: due.hpp and submission.hpp, which fill them; search.hpp, which empties them.

/// Any thread may call every member.
class due_queue {
 public:
  /// Another thread may run `r` at once, and `r` may be gone. seq_cst: the store of first_ comes before the pusher's read of the parking
  /// states, in one order with a parker's store of its state and read of empty(), as for an inbox (../sleep/README.md).
  void push(resumable& r) noexcept {
    r.next = nullptr;
    lock_.lock();
    if (resumable* const oldest = first_.load(std::memory_order_relaxed); oldest != nullptr) {  // relaxed: under the lock
      newest_->next = &r;
    } else {
      first_.store(&r, std::memory_order_seq_cst);
    }
    newest_ = &r;
    lock_.unlock();
  }
  /// The oldest; null if there is none.
  resumable* take() noexcept {
    if (looks_empty()) return nullptr;
    lock_.lock();
    resumable* const oldest = first_.load(std::memory_order_relaxed);  // relaxed, here and below: under the lock
    if (oldest != nullptr) first_.store(oldest->next, std::memory_order_relaxed);
    lock_.unlock();
    return oldest;
  }
  /// The parker's last test before it sleeps. seq_cst: pairs with push.
  bool empty() const noexcept { return first_.load(std::memory_order_seq_cst) == nullptr; }
  /// As empty, but a hint. relaxed: no partner.
  bool looks_empty() const noexcept { return first_.load(std::memory_order_relaxed) == nullptr; }

 private:
  alignas(destructive_size) std::atomic<resumable*> first_{nullptr};
  resumable* newest_ = nullptr;  // under the lock; undefined where first_ is null
  basic_spin_lock<std_sync> lock_;
};

/// Those of a pool; where nothing is stolen, of one worker.
struct queues {
  due_queue due;   ///< stacks whose time limit has expired, or whose event has come: due.hpp
  due_queue high;  ///< work of high priority
  due_queue low;   ///< work of low priority

  /// The parker's last test before it sleeps.
  bool empty() const noexcept { return due.empty() && high.empty() && low.empty(); }
};

// The tasks of a pool that wait without a native stack, but not at a join, in lists for reports. A task enters one before anything may wake
// it, and leaves it before it continues: so its entry is there while the list is locked. What it has waited for may be gone. Next: waiting_task.hpp, which is listed;
// src/report/report.cpp, which reads the lists.

/// A list for each worker, of the tasks that it has left: so workers rarely meet at a lock.
class listed_tasks {
 public:
  explicit listed_tasks(std::size_t workers) : lists_(workers) {}

  /// By the worker that leaves the task.
  void enter(unsigned worker, listed_task& t) noexcept {
    list& in = lists_[worker];
    std::lock_guard const guard{in.lock};
    t.before = nullptr;
    t.next = in.first;
    if (t.next != nullptr) t.next->before = &t;
    in.first = &t;
  }
  /// By the worker that continues the task, with the number of that which left it.
  void leave(unsigned worker, listed_task& t) noexcept {
    list& in = lists_[worker];
    std::lock_guard const guard{in.lock};
    (t.before != nullptr ? t.before->next : in.first) = t.next;
    if (t.next != nullptr) t.next->before = t.before;
  }

  // ---- Any thread.

  /// Copies of all entries, of the moment for each list. Throws std::bad_alloc. The workers wait for a lock only while a list is counted or
  /// copied.
  std::vector<listed_task> copies() const {
    std::vector<listed_task> all;
    for (list const& in : lists_) {
      for (std::size_t most = 0;;) {
        all.reserve(all.size() + most);
        std::lock_guard const guard{in.lock};
        std::size_t n = 0;
        for (listed_task const* t = in.first; t != nullptr; t = t->next) ++n;
        if (n > all.capacity() - all.size()) {
          most = n + n / 4;
          continue;
        }
        for (listed_task const* t = in.first; t != nullptr; t = t->next) all.push_back(*t);
        break;
      }
    }
    return all;
  }
  bool empty() const noexcept {
    for (list const& in : lists_) {
      std::lock_guard const guard{in.lock};
      if (in.first != nullptr) return false;
    }
    return true;
  }

 private:
  struct alignas(destructive_size) list {
    mutable basic_spin_lock<std_sync> lock;
    listed_task* first = nullptr;
  };
  std::vector<list> lists_;
};

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

// What the workers of one pool share. Plain data: each part is used by the room that knows it. Made by scheduler.hpp before any worker
// runs. Next: worker.hpp, one of them.

class pool;

}

namespace nopal::inline NOPAL_ABI::core {

struct frame;
class permits;
struct pool_state;
class scheduler;
class blocking_threads;
class timer;
class worker;

/// Functions of higher rooms that lower rooms call. scheduler.cpp fills them in, once for each pool.
struct entry_points {
  /// The body of a fresh native stack: searches for work at its base, leaves it for the thread's own stack when the search ends, and never
  /// returns.
  void (*search)(context& stack) noexcept;
  /// Runs a stolen task.
  void (*run_stolen_task)(worker& w, frame& f, strand_context const& in) noexcept;
  /// Resumes a native stack that was left at a fork of a scope.
  resumable::run_function run_left_stack;
  /// The pool is used and has no threads in this process. Starts them again if shutdown has ended them; ends the program with a message if
  /// they are in the parent of a fork.
  void (*find_threads)(pool_state& pool) noexcept;
  /// The list of segments holds many that no arena uses. `pool`: the pool_state.
  void (*note_free_memory)(void* pool) noexcept;
  /// A stack was woken that worker `left_by` has left: due.hpp, take_if_due.
  bool (*take_if_due)(pool_state& pool, resumable& r, unsigned left_by, bool home) noexcept;
  /// A stack of high priority was woken: submission.hpp.
  void (*give_high)(pool_state& pool, resumable& r, unsigned i) noexcept;
};

struct pool_state {
  pool_state(pool_options const& options, std::vector<place> where, std::unique_ptr<observer> o, std::shared_ptr<event_source> source,
             timer& t, blocking_threads& b, entry_points e);
  pool_state(pool_state const&) = delete;
  pool_state& operator=(pool_state const&) = delete;
  ~pool_state();

  entry_points const call;
  bool const steals;
  std::int64_t const search_before_sleep;  ///< how long an idle thread searches before it sleeps, in nanoseconds: pool_options::keep_warm
  bool const backs_off;                    ///< thieves pause after a search that found nothing: experimental_options::back_off
  nopal::resume const resume;
  nopal::idle const idle;
  std::function<unsigned(unsigned, unsigned, std::uint64_t)> const choose_victim;  ///< experimental_options; null: victim_table
  std::string const name;                                                          ///< pool_options::name
  std::unique_ptr<observer> const observed;                                        ///< gets a call for each event; null: there is none
  bool const takes_turns;                                                          ///< observer::effects
  bool const has_own_clock;                                                        ///< observer::effects
  bool const counts_jobs;                                                          ///< observer::effects

  std::vector<place> const places;             ///< of each worker
  std::shared_ptr<core::permits> const limit;  ///< on the workers that run, of several pools; null: none

  central_stacklet_list stacklets;
  std::uint64_t const memory_limit;  ///< bytes that native stacks and task frames may hold: memory.hpp
  stack_pool stacks;
  central_block_list blocks;
  core::timer& timer;
  blocking_threads& blocking;    ///< for nopal::block_on
  listed_tasks tasks_that_wait;  ///< without a native stack, but at their joins

  std::vector<worker*> workers;  ///< complete before any thread runs
  pool_events events;            ///< from outside of the pool: experimental_options::events
  core::parking parking;
  core::naps naps;
  core::queues queues;                     ///< in a pool that steals
  std::atomic<bool> asks_for_due{false};   ///< the timer will ask workers to look at what is due: due.cpp
  std::atomic<bool> asks_for_high{false};  ///< the timer will ask all workers to look at the queue `high`: submission.cpp
  std::atomic<bool> watches_low{false};    ///< the timer will look how long the queue `low` has waited: submission.cpp
  /// When workers that have not looked at what is due are asked again; the timer's.
  std::chrono::nanoseconds ask_again_after{tuning::between_requests};
  std::int64_t look_again_after = tuning::between_polls;  ///< nanoseconds between two looks of the timer into the event source; the timer's
  std::atomic<bool> stopping{false};                      ///< the workers' threads are to end
  pending_work pending;
  std::atomic<std::uint64_t> spawned_outside{0};  ///< fibers that were spawned by threads which do not work for this pool
  std::atomic<unsigned> next_worker{0};           ///< where the next choice of a worker begins
  std::atomic<bool> looks_at_memory{false};       ///< the timer will look at what nothing uses: memory.cpp
  std::atomic<bool> stacks_stay{false};  ///< some stack has had to: from then on workers note which joins their strands descend from
  loops_alone alone;                     ///< loops that ran alone while the threads slept: loop/pace.hpp
  bool pinned = false;                   ///< each worker's thread sleeps bound to its CPU: machine/cpus.hpp
  bool on_part = false;                  ///< its place is a part of the machine
  bool keeps_apart = false;              ///< not pinned, but there is a CPU for each worker: no two threads fall asleep on one
  control_words const mode = control_words::now();  ///< of the thread that makes the pool; a worker's between strands
  held_region const everything_region{make_region({}, time_point::max(), no_region)};
  stop_region& everything = *everything_region;  ///< all that the pool runs: pool::request_stop
  pool* owner = nullptr;                         ///< what pool::current() returns; set before any job runs

  // ---- Where the threads are. README.md, "The process".

  scheduler* whole = nullptr;        ///< the scheduler that this is the shared part of
  bool is_default = false;           ///< shutdown may end its threads; set before any job runs
  std::atomic<unsigned> process{0};  ///< the process_number in which the threads run; 0: in none
  bool has_threads() const noexcept {
    return process.load(std::memory_order_seq_cst) == process_number;  // seq_cst: pairs with the store in end_threads
  }
  /// By a thread that brings work, once the work is counted: afterwards the pool has threads.
  void needs_threads() noexcept {
    if (!has_threads()) [[unlikely]]
      call.find_threads(*this);
  }
  /// Calls of run on the default pool, by threads that do not work for it: how many have begun, and how many have ended.
  alignas(destructive_size) std::atomic<std::uint64_t> calls_begun{0};
  std::atomic<std::uint64_t> calls_ended{0};

  /// True if the pool's time is not the machine's. Then only workers act on time that has passed.
  bool keeps_own_time() const noexcept { return takes_turns || has_own_clock; }

  unsigned size() const noexcept { return static_cast<unsigned>(workers.size()); }

  live_pool in_list;  ///< last: the pool leaves the list before anything else is destroyed
};

}  // namespace nopal::core
