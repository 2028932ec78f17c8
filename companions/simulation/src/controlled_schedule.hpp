#pragma once

// Controlled schedules: one worker of the pool runs at a time, and a seed decides at which forks and waits another gets the turn. So rare
// orders of events are frequent, and repeat with the same seed. For tests: the shipped protocols, made slow. It observes the pool, which
// calls it where a worker offers, steals, suspends or finds nothing. ../schedules.md.

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;
struct pool_state;

// The schedule of a pool, and what decides it. Read from the options or from NOPAL_SCHEDULE.

/// A decision to repeat in another run: decision `at` of pool number `pool` gives worker `to` the turn.
struct listed_decision {
  unsigned pool;
  std::uint64_t at;
  unsigned to;
};

struct schedule_choice {
  nopal::schedule how = nopal::schedule::free;
  std::uint64_t seed = 0;
  unsigned pool = 0;  ///< the number of pools that have read the environment before this one
  // Of by_priority:
  std::uint64_t depth = 3;     ///< how many orders between two workers' steps a bug may need
  std::uint64_t steps = 1000;  ///< the most decisions of a run
  // Of steal_at_random and by_priority: a worker that can continue loses the turn only by these decisions.
  bool only_listed = false;
  std::vector<listed_decision> list = {};
  std::string machine = {};  ///< the simulated machine, if `how` is free; empty: none

  /// Reads "random:7", "always", "never:7", "pct:7:d=2:k=500", "only:random:7:12>1,40>0", "simulate:2x56". Throws std::invalid_argument,
  /// with the text and what to write instead.
  static schedule_choice parse(std::string_view text);
  /// Parses the environment variable NOPAL_SCHEDULE. Each pool that reads it gets a seed of its own, by the order in which pools read it.
  static schedule_choice from_environment();
};

class controlled_schedule final : public observer {
 public:
  /// `how` is not free. `pool`: not constructed yet. Nothing of it is read before its first thread begins, or something comes.
  controlled_schedule(schedule_choice how, unsigned workers, pool_state const& pool);
  ~controlled_schedule() override;
  effects has() const noexcept override { return {.takes_turns = true}; }

  // ---- By worker i. Each of these returns when worker i has the turn. A worker that blocks by other means, or runs for long, loses its
  // turn: so a program still ends if its workers wait for each other in ways that nopal does not see.

  /// The worker's thread has begun. Before any other call. Until thread_ends its std_sync::yield, sleep and wait give the turn away.
  void thread_begins(unsigned i) noexcept override;
  void thread_ends(unsigned i) noexcept override;
  /// The worker lets others run: another that may find something gets the turn.
  void makes_way(unsigned i) noexcept override { static_cast<void>(make_way(i)); }
  /// The worker has offered something: another may get the turn now, and steal it. True: the worker must call this again at its next fork.
  bool offered(unsigned i) noexcept override;
  /// What the worker does next may also happen after steps of others: another may get the turn now. `left`: the stack that it has just
  /// left, which waits; or null.
  void may_come_later(unsigned i, stack const* left) noexcept override;
  /// The worker has found nothing. Waits until there is something new.
  void found_nothing(unsigned i) noexcept override;
  /// The worker that worker i must try first, since i got the turn at that worker's fork. Returned once, then no_worker. Does not wait.
  unsigned victim(unsigned i) noexcept override;

  // ---- By any thread.

  /// Waits until all workers are idle, so that each run finds them in the same state; for tuning::until_rest of their CPU time at most. By
  /// a thread outside the pool, before it brings work; and by the timer, before it wakes what is due.
  void settle() noexcept override;
  /// True if all workers are idle.
  bool at_rest() const noexcept override;
  /// There is something new to find: if all workers are idle, one gets the turn.
  void something_new() noexcept override;
  /// From now on all run freely.
  void pool_ends() noexcept override;
  /// All threads have ended, and others are about to begin, which take turns again.
  void pool_begins_again() noexcept override;
  /// How often a worker ran without having the turn, or a thread brought work while a worker ran. While it is 0 the same seed gives the
  /// same run.
  std::uint64_t lost_turns() const noexcept override;

 private:
  class own_time;
  class call;
  using lock = std::unique_lock<std::mutex>;
  struct worker_state {
    std::atomic<std::uint32_t> called{0};  ///< its thread sleeps on this; counts the turns that it was given. Changes under the lock
    bool idle = true;
    std::uint64_t seen = 0;  ///< the value of news_ before the worker last searched
    unsigned victim = no_worker;
    std::unique_ptr<virtual_time> time;
    int thread = 0;                 ///< its number; 0: it has not begun
    clockid_t cpu_time{};           ///< of the thread
    std::int64_t used_at_turn = 0;  ///< CPU time, in nanoseconds, when it got the turn
  };

  /// The worker waits for another, or lets others run: another that may find something gets the turn. False: there is none, and the worker
  /// keeps the turn; what it waits for comes from outside the pool.
  bool make_way(unsigned i) noexcept;
  // True for a worker that may continue, and for an idle one if there is something that it may find, and it has not looked for it. It is
  // given no turn in vain. `anything`: something_for_all().
  bool may_find(worker_state const& s, bool anything) const noexcept;
  bool something_for_all() const noexcept;
  bool something_for(unsigned i) const noexcept;
  auto those_that_may_find() const noexcept;
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
  unsigned pace(std::uint64_t at) const noexcept;
  call give(unsigned to) noexcept;
  void wait(lock& guard, unsigned i, call other) noexcept;
  void wait(lock& guard, unsigned i) noexcept;
  bool holder_sleeps(lock& guard) noexcept;
  bool holder_is_slow(lock& guard) noexcept;
  std::int64_t used_by_all() const noexcept;
  // True if worker i holds a lock that others wait for in the standard library. Then it decides nothing. By its thread.
  bool must_go_on(unsigned i) const noexcept { return !workers_[i].time->may_be_interrupted(); }

  schedule_choice const choice_;
  pool_state const& pool_;
  mutable std::mutex mutex_;
  std::atomic<std::uint32_t> rested_{0};  // threads in settle sleep on this; counts the times that all were idle. Changes under the lock
  unsigned settling_ = 0;                 // threads in settle
  std::atomic<unsigned> calls_{0};        // that were decided, and whose system call has not returned
  std::vector<worker_state> workers_;
  std::uint64_t decisions_ = 0;               // made so far: each has its number
  std::vector<std::int64_t> priorities_;      // of the workers, by_priority: the highest runs
  std::int64_t lowest_ = 0;                   // no priority is below
  std::vector<std::uint64_t> change_points_;  // the decisions at which the running worker gets a priority below all others
  unsigned holder_ = no_worker;               // the worker that has the turn; no_worker: all are idle
  std::uint64_t given_ = 0;                   // times that the turn was given
  std::uint64_t news_ = 0;                    // times that there was something new
  std::uint64_t lost_ = 0;
  unsigned looks_at_unbegun_ = 0;  // times that the holder's thread had not begun
  bool ended_ = false;
};

// The decisions of controlled schedules, in the file that NOPAL_SCHEDULE_LOG names: for ./nopal shrink (tools/shrink.py), which repeats a
// failing run with fewer of them. Does nothing if that variable is not set.

/// Opens the file, for a pool that is being made, if it is not open yet. Throws std::system_error if it cannot be written.
void begin_schedule_log();
/// Adds a line: a decision that is not the usual one. `what`: f, at a fork; w, at a wait, on the stack `left`; s, before stolen work
/// begins; i, a worker found nothing; n, all were idle; y, a worker made way. For f and w also the return addresses, as offsets in their
/// objects. Written at once, since the program may end at any moment. By the worker `from` that has had the turn, on its thread; for n, by
/// any thread.
void log_decision(listed_decision const& d, char what, unsigned from, stack const* left) noexcept;
/// Adds a line: the number of decisions of a pool, and of turns that were lost.
void log_end(schedule_choice const& choice, unsigned workers, std::uint64_t decisions, std::uint64_t lost) noexcept;

}  // namespace nopal::core
