#pragma once

// stats: what a pool's workers have counted, for pool::stats().

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace nopal::inline NOPAL_ABI {

/// What happened on one worker, or summed over all. Forks are not counted: that would cost on the fast path. Native stacks pass from worker
/// to worker: the numbers of stacks (stacks_live to pages_returned) are those of the worker that has mapped them.
struct worker_stats {
  std::uint64_t steals = 0;           ///< times that a continuation, ready fibers or an inbox's jobs were taken from another worker
  std::uint64_t steal_attempts = 0;   ///< times that another worker was searched for these
  std::uint64_t suspensions = 0;      ///< tasks left at a join, because children ran elsewhere, and native stacks left at any wait
  std::uint64_t serial_forks = 0;     ///< forks that ran serially for want of memory for a native stack or for the deque
  std::uint64_t stacks_live = 0;      ///< native stacks mapped now
  std::uint64_t stacks_peak = 0;      ///< the most at any time; a pool's is at most the sum of its workers'
  std::uint64_t stack_pages = 0;      ///< pages of memory that all of them hold now
  std::uint64_t unmaps = 0;           ///< times that unused pages of a stack that stays mapped went back to the system: of one that was
                                      ///< left at a join or for a job, and of a free one
  std::uint64_t purges = 0;           ///< unmaps of a free stack
  std::uint64_t pages_returned = 0;   ///< pages that all unmaps gave back, as far as the kernel says
  std::uint64_t sleeps = 0;           ///< times that the worker's thread went to sleep
  std::uint64_t wakeups = 0;          ///< times that it woke up
  std::uint64_t fibers_spawned = 0;   ///< by this worker; fibers that came from outside are in no worker's number
  std::uint64_t fibers_finished = 0;  ///< also fibers that came from outside, as children of scopes off a pool do
  std::uint64_t switches = 0;         ///< native stacks that this worker left at a wait, and native stacks that it resumed
  std::uint64_t pauses = 0;           ///< times that its thread paused after a search that found nothing: experimental_options::back_off

  /// The part of the attempts to steal that found something; 0 if there was none.
  double success_rate() const noexcept {
    return steal_attempts == 0 ? 0 : static_cast<double>(steals) / static_cast<double>(steal_attempts);
  }

  /// Adds up number by number.
  worker_stats& operator+=(worker_stats const& o) noexcept;
};

namespace core {
/// All numbers of a worker_stats.
inline constexpr std::array numbers_of_worker{
    &worker_stats::steals,         &worker_stats::steal_attempts,  &worker_stats::suspensions, &worker_stats::serial_forks,
    &worker_stats::stacks_live,    &worker_stats::stacks_peak,     &worker_stats::stack_pages, &worker_stats::unmaps,
    &worker_stats::purges,         &worker_stats::pages_returned,  &worker_stats::sleeps,      &worker_stats::wakeups,
    &worker_stats::fibers_spawned, &worker_stats::fibers_finished, &worker_stats::switches,    &worker_stats::pauses,
};
static_assert(sizeof(worker_stats) == numbers_of_worker.size() * sizeof(std::uint64_t), "each number is to be summed");
}  // namespace core

inline worker_stats& worker_stats::operator+=(worker_stats const& o) noexcept {
  for (auto const number : core::numbers_of_worker) this->*number += o.*number;
  return *this;
}

/// A pool's counters: the sum, and each worker's own. Reading them never stops the workers.
struct stats : worker_stats {
  /// With a controlled schedule: how often a worker ran out of its turn, or work came from outside while a worker ran. 0: the same seed
  /// gives the same run.
  std::uint64_t lost_turns = 0;
  /// Bytes of the segments that hold frames and scratch of tasks, with those that workers keep for the next ones; the most at any time; and
  /// of free segments whose pages have not gone back to the system. The sum of the first and the last is never more than the peak. A segment
  /// counts in the pool where the task that moves with it to others has got it.
  std::uint64_t segment_bytes = 0;
  std::uint64_t segment_bytes_peak = 0;
  std::uint64_t segment_bytes_free = 0;
  /// The most pages of memory that all native stacks have held at any time, computed from how deep each was used when its unused pages went
  /// back: those of the stacks at rest at their most, plus for each worker the deepest that any stack was used. Or stack_pages, if that is
  /// more: with reclaim::none nothing goes back, and the stacks hold all that they have ever held.
  std::uint64_t stack_pages_peak = 0;
  std::vector<worker_stats> per_worker;
};

}  // namespace nopal
