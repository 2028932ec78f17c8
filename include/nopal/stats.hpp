#pragma once

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <vector>

namespace nopal {

/// What happened on one worker, or summed over all. Forks are not counted: it would cost on the fast path. Native stacks go from worker to
/// worker: each counts as that of the worker that has mapped it.
struct worker_stats {
  std::uint64_t steals = 0;          ///< continuations taken from another worker
  std::uint64_t steal_attempts = 0;  ///< looks at another worker's deque
  std::uint64_t suspensions = 0;     ///< strands left at a join, because children ran elsewhere
  std::uint64_t serial_forks = 0;    ///< forks that ran serially for want of memory for a native stack
  std::uint64_t stacks_live = 0;     ///< native stacks mapped now
  std::uint64_t stacks_peak = 0;     ///< the most at any time; a pool's is at most the sum of its workers'
  std::uint64_t stack_pages = 0;     ///< pages of memory that all of them hold now
  std::uint64_t unmaps = 0;          ///< times that unused pages went back: of a stack left at a join, and of one that is free again
  std::uint64_t pages_returned = 0;  ///< how many these were, as far as the kernel says
  std::uint64_t sleeps = 0;          ///< times that the worker's thread went to sleep
  std::uint64_t wakeups = 0;
  std::uint64_t fibers_spawned = 0;
  std::uint64_t fibers_finished = 0;  ///< with those that came from outside, as children of scopes off a pool do
  std::uint64_t switches = 0;

  /// Of all looks at another worker, the part that found something; 0 where there was none.
  double success_rate() const noexcept {
    return steal_attempts == 0 ? 0 : static_cast<double>(steals) / static_cast<double>(steal_attempts);
  }

  worker_stats& operator+=(worker_stats const& o) noexcept {
    steals += o.steals;
    steal_attempts += o.steal_attempts;
    suspensions += o.suspensions;
    serial_forks += o.serial_forks;
    stacks_live += o.stacks_live;
    stacks_peak += o.stacks_peak;
    stack_pages += o.stack_pages;
    unmaps += o.unmaps;
    pages_returned += o.pages_returned;
    sleeps += o.sleeps;
    wakeups += o.wakeups;
    fibers_spawned += o.fibers_spawned;
    fibers_finished += o.fibers_finished;
    switches += o.switches;
    return *this;
  }
};

/// A pool's counters: the sum, and each worker's own. Reading them never stops the workers.
struct stats : worker_stats {
  /// With a forced schedule: how often a worker went on out of turn, or work came from outside while others ran. 0: the same seed gives
  /// the same run.
  std::uint64_t lost_turns = 0;
  std::vector<worker_stats> per_worker;
};

}  // namespace nopal
