#pragma once

// A simulated machine: any number of workers run one at a time, each with a clock of its own, and the least advanced runs next. A worker's
// clock advances by the time that its strands really take, and by a list of costs for what happens between two CPUs. The scheduler is the
// shipped one: search.cpp, parking.hpp, deque.hpp run unchanged, in this time. ../README.md. Next: costs.hpp.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/simulation_report.hpp"
#include "simulation/src/costs.hpp"
#include "simulation/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI::core {

class simulation final : public observer, public virtual_time::domain, timeline {
 public:
  static constexpr char kind{};  ///< for observer::find

  /// What it needs of its pool. Any thread may call them.
  struct hands {
    std::function<void(unsigned)> ask;  ///< makes the next fork of that worker poll
    std::function<unsigned()> helpers;  ///< the number of the pool's threads that wait for work, besides workers, timer and ticker
  };
  /// `where[i]`: the place of worker i. `cpus`: the CPUs that the process may use; the workers share one of them.
  simulation(simulation_costs costs, topology machine, std::vector<place> where, std::vector<int> cpus, hands h);
  ~simulation() override;
  effects has() const noexcept override { return {.has_own_clock = true, .counts_jobs = true}; }

  // ---- By worker i. Each may pass the turn on, and returns when worker i has it.

  /// The worker's thread has begun. Before any other call.
  void thread_begins(unsigned i) noexcept override;
  /// The worker's thread ends.
  void thread_ends(unsigned i) noexcept override;
  /// What follows must happen after all that others do earlier: all workers that are behind run first.
  void must_come_in_order(unsigned i) noexcept override;
  /// The worker's strand has polled: thieves at about this time run first, and other workers that are far behind.
  void polled(unsigned i) noexcept override;
  /// The worker is about to look at `victim`, as a thief.
  void tries(unsigned i, unsigned victim) noexcept override;
  /// The worker executes so many pauses before it looks again. Returns true.
  bool pauses(unsigned i, std::uint64_t pauses) noexcept override;
  /// What the worker has stolen from `victim` is about to run.
  void took(worker& w, worker const& victim) noexcept override;

  // ---- By worker i. It keeps the turn.

  /// From now on the worker searches, and takes the time that the costs say; or it no longer does.
  void searches(unsigned i, bool does) noexcept override;
  /// The strand has worked for so many nanoseconds. Under clock=given.
  void works(unsigned i, std::int64_t nanoseconds) noexcept;
  /// A job from outside begins to run. Simulated time counts from the first such job: before, workers search for the real time that a
  /// thread outside needs to bring the job.
  void job_begins(unsigned i) noexcept override;
  /// A job from outside has ended.
  void job_ends(unsigned i) noexcept override;

  // ---- By the timer's thread. It has a clock, like a worker, but what it does takes no time.

  bool needs_timer() const noexcept override { return true; }
  void timer_begins() noexcept override;
  void timer_ends() noexcept override;

  // ---- By any thread.

  /// A thread outside brings a job: simulated time counts from when a worker finds it until all such jobs have ended.
  void job_comes() noexcept override;
  /// From now on all run freely; the caller has woken all, or will.
  void pool_ends() noexcept override;
  /// All threads have ended, and others are about to begin. Throws std::system_error if the ticker's thread cannot be made.
  void pool_begins_again() override;
  /// Reports what is new, to standard error or the file that NOPAL_SIMULATION names.
  void pool_has_ended() noexcept override;
  void process_ends() noexcept override;
  /// The simulation of the pool; null if it has none.
  static simulation* of(pool_state const& pool) noexcept;
  simulation_report report() const;
  /// True if something has run since the last call.
  bool is_news(simulation_report const& r) noexcept {
    return reported_.exchange(r.elapsed.count(), std::memory_order_relaxed) != r.elapsed.count();
  }
  simulation_costs const& costs() const noexcept { return costs_; }
  /// How often a worker lost the turn, since it waited for another in a way that the simulation does not see.
  std::uint64_t lost_turns() const noexcept override;

 private:
  using timeline::no_worker;
  class own_time;
  using entry = timeline_entry;
  int distance(unsigned i, unsigned j) const noexcept { return std::max(1, machine_.distance(where_[i], where_[j])); }
  unsigned rank(unsigned i, unsigned j) const noexcept { return ranks_[static_cast<std::size_t>(distance(i, j))]; }
  void sleep(unsigned i, std::atomic<std::uint32_t> const* on, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
  bool wake(std::atomic<std::uint32_t> const& a, bool all) noexcept override;
  void start_ticker();
  void stop_ticker() noexcept;
  void rests(unsigned i, bool does) noexcept;
  void interrupted(unsigned i, bool waits, bool by_alarm) noexcept;
  bool wake_sleepers(std::atomic<std::uint32_t> const& a, bool all, unsigned waker) noexcept;
  bool unblock(unsigned i) noexcept;
  void enter_as(unsigned i) noexcept;
  bool nobody_acts_outside() const noexcept override;
  void leave_waiting(unsigned i) noexcept;
  /// Worker i takes so long. False: the simulation has ended.
  bool takes(unsigned i, double nanoseconds, rule r) noexcept;

  simulation_costs const costs_;
  std::vector<int> const cpus_;
  hands const hands_;
  topology const machine_;
  std::vector<place> const where_;
  std::int64_t alarm_cost_ = 0;  ///< the cost of an alarm to the worker that it stops, in nanoseconds
  std::vector<unsigned> ranks_;  ///< by distance: its rank among the distances that occur, the nearest first
  std::vector<int> distances_;   ///< by rank: the distance
  std::int64_t used_ = 0;        ///< the CPU time of threads that have ended: the workers', the timer's and the tickers'
  unsigned present_ = 0;         ///< threads that have begun
  std::condition_variable all_present_;
  std::uint64_t lost_ = 0;
  // Jobs from outside.
  std::int64_t began_ = 0;
  std::int64_t last_end_ = 0;
  std::int64_t elapsed_ = 0;
  unsigned jobs_ = 0;
  bool found_ = false;                     ///< one of these runs, or has run
  std::atomic<std::int64_t> reported_{0};  ///< `elapsed` of the last report; relaxed: it orders nothing
};

}  // namespace nopal::core
