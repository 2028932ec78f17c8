#pragma once

// Controlled schedules: one worker of the pool runs at a time, and a seed decides at which forks and waits another gets the turn. So rare
// orders of events come often, and come again with the same seed. For tests: the shipped protocols, made slow. search.cpp, worker.cpp and
// suspension.cpp call it where a worker offers, steals, suspends or finds nothing. README.md, "Controlled schedules".

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "nopal/core/scheduler/schedule_choice.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;

class controlled_schedule {
 public:
  static constexpr unsigned no_worker = ~0u;

  /// `how` is not free.
  controlled_schedule(schedule_choice how, unsigned workers);

  // ---- By worker i. Each of these returns when worker i has the turn. A worker that blocks by other means, or runs for long, loses its
  // turn, so that programs whose workers wait for each other in ways that nopal does not see come to their end all the same.

  /// The worker's thread has begun. Before anything else.
  void enter(unsigned i) noexcept;
  /// The worker has offered something: another may get the turn now, and steal it. True: the worker is to call this again at its next fork.
  bool at_fork(unsigned i) noexcept;
  /// What the worker does next may as well happen after what others do: another may get the turn now. `left`: the stack that it has just
  /// left, which waits; or null.
  void step(unsigned i, stack const* left) noexcept;
  /// The worker has found nothing. Waits until there is something new.
  void idle(unsigned i) noexcept;
  /// The worker that worker i is to try first, as it got the turn at that one's fork: given once, then no_worker. Does not wait.
  unsigned victim(unsigned i) noexcept;

  // ---- By any thread.

  /// Waits until all workers are idle, tuning::until_rest at most, so that they are always found in the same state. By a thread outside the
  /// pool, before it brings work.
  void settle() noexcept;
  /// There is something new to be found: if all workers are idle, one gets the turn.
  void something_new() noexcept;
  /// From now on all run freely.
  void end() noexcept;
  /// All threads have ended, and others are about to begin: they take turns again.
  void begin_again() noexcept;
  /// How often a worker ran without having the turn, or a thread brought work while a worker ran. While it is 0 the same seed gives the
  /// same run.
  std::uint64_t lost() const noexcept;

 private:
  using lock = std::unique_lock<std::mutex>;
  struct worker_state {
    std::condition_variable given;  ///< the turn
    bool idle = true;
    std::uint64_t seen = 0;  ///< the value of news_ before the worker last searched
    unsigned victim = no_worker;
  };

  bool may_find(worker_state const& s) const noexcept { return !s.idle || s.seen != news_; }
  template <class Accept>
  unsigned first_after(unsigned from, Accept accept) const noexcept;
  template <class Accept>
  unsigned draw(std::uint64_t at, unsigned one_in, unsigned from, Accept accept) const noexcept;
  template <class Accept>
  unsigned highest(std::uint64_t at, unsigned from, bool may_stay, Accept accept) noexcept;
  template <class Accept>
  unsigned listed(std::uint64_t at, unsigned from, unsigned otherwise, Accept accept) const noexcept;
  template <class Accept>
  unsigned decide(char what, unsigned from, unsigned one_in, Accept accept, stack const* left = nullptr) noexcept;
  void give(unsigned to) noexcept;
  void pass(lock& guard, unsigned from, unsigned to) noexcept;
  void wait(lock& guard, unsigned i) noexcept;

  schedule_choice const choice_;
  mutable std::mutex mutex_;
  std::condition_variable rest_;  // all are idle
  std::vector<worker_state> workers_;
  std::uint64_t decisions_ = 0;               // made so far: each has its number
  std::vector<std::uint64_t> priorities_;     // of the workers, by_priority: the highest runs
  std::vector<std::uint64_t> change_points_;  // the decisions at which whoever runs gets a priority below all others
  unsigned holder_ = no_worker;               // the worker that has the turn; no_worker: all are idle
  std::uint64_t given_ = 0;                   // how often the turn was given
  std::uint64_t news_ = 0;                    // how often there was something new
  std::uint64_t lost_ = 0;
  bool ended_ = false;
};

}  // namespace nopal::core
