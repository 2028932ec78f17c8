#pragma once

// The workers of a simulated machine, and its timer: the clock of each, which has the turn, and which runs next. All under one mutex.
// ../README.md, "Which worker is next". Next: simulation.hpp, the events.

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/config.hpp"
#include "simulation/src/interruption.hpp"

namespace nopal::inline NOPAL_ABI::core {

class timeline {
 public:
  timeline(timeline const&) = delete;
  timeline& operator=(timeline const&) = delete;

 protected:
  static constexpr unsigned no_worker = ~0u;
  /// A time that is never reached.
  static constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();
  /// The first of all times, in nanoseconds. Not 0, which has another meaning for callers of now().
  static constexpr std::int64_t beginning = 1'000'000;

  using lock = std::unique_lock<std::mutex>;
  enum class state : std::uint8_t { absent, ready, runs, sleeps };
  /// Which workers run before worker i.
  enum class rule : std::uint8_t {
    exact,     ///< all that are behind
    polled,    ///< thieves that are behind or only a little ahead; strands that are a slice behind
    late,      ///< the same, but no thief that is ahead
    searches,  ///< all that are behind by more than the time of some looks
    waits,     ///< all that are behind by more than a little: for a thief that waits for its victim's answer
  };
  enum kind : std::uint8_t { working, searching, waking, asleep, kinds };

  /// Of worker i, or, the last, of the timer. Only its thread uses `measures` and `watch`; its thread, and any that has the lock, the
  /// others.
  struct worker_state {
    std::atomic<std::uint32_t> turn{0};  ///< 1: it was given the turn; its thread sleeps on this
    state now = state::absent;
    bool searches = false;          ///< as search_state::searching: its clock is not measured
    bool found = false;             ///< it has found something, and will run it
    bool rests = false;             ///< it has the turn, and sleeps in real time, since no other worker can run
    std::atomic<bool> away{false};  ///< it lost the turn while it waited in the kernel, and returns by itself
    bool measures = false;          ///< its clock runs on by itself: it has the turn, and runs a strand
    std::int64_t clock = beginning;
    std::int64_t wakes_at = 0;  ///< while it sleeps: when it wakes by itself; virtual_time::for_ever: never
    std::atomic<std::uint32_t> const* sleeps_on = nullptr;
    std::int64_t ahead = 0;  ///< how far thieves may be ahead of it, while it runs a long leaf
    stopwatch watch;
    thread_alarm alarm;
    std::uint64_t ticks = 0;  ///< of the processor's clock, when its clock last began to run
    clockid_t cpu_time{};
    pthread_t thread{};
    int thread_number = 0;                    ///< the system's
    std::int64_t used_before = 0;             ///< its CPU time at the ticker's last look
    std::array<std::int64_t, kinds> spent{};  ///< by `kind`
    std::atomic<std::int64_t> disturbed{0};   ///< how long it had no CPU, or its victims were not stopped in time
    std::uint64_t wakeups = 0;
    std::vector<std::uint64_t> stolen;  ///< by distance
    std::unique_ptr<virtual_time> time;

    /// True if it is a thief, or about to be one.
    bool looks() const noexcept { return (searches && !found) || now == state::sleeps; }
  };

  /// `slice`: how far strands may be apart, in nanoseconds. `measures`: their clocks run by themselves.
  timeline(std::int64_t slice, bool measures) noexcept;
  virtual ~timeline();

  /// True if no thread of the process outside this machine runs, or waits for a time. With the lock.
  virtual bool nobody_acts_outside() const noexcept = 0;

  unsigned timer() const noexcept { return static_cast<unsigned>(workers_.size()) - 1; }
  worker_state& at(unsigned i) noexcept { return *workers_[i]; }
  worker_state const& at(unsigned i) const noexcept { return *workers_[i]; }
  // relaxed, both: changed under the lock; a thread that reads it without the lock reads it again with it
  unsigned holder() const noexcept { return holder_.load(std::memory_order_relaxed); }
  void set_holder(unsigned i) noexcept { holder_.store(i, std::memory_order_relaxed); }

  // ---- By worker i's thread, without the lock.

  /// The strand runs from now on: the last call in the simulation's code. stop_watch: the strand has entered; returns how long it has
  /// worked since start_watch. The first call there, since the simulation's own work takes no simulated time.
  void start_watch(unsigned i) noexcept;
  std::int64_t stop_watch(unsigned i) noexcept;
  /// Takes the lock.
  std::int64_t now(unsigned i) const noexcept;

  // ---- With the lock.

  void advance(worker_state& w, std::int64_t nanoseconds, kind k) noexcept;
  std::int64_t latest() const noexcept;
  /// Worker i, which was away, is back. What it waited for may have come from the worker that runs now: so its clock is no earlier.
  void comes_back(unsigned i) noexcept;
  /// The least advanced worker that can run, other than `but`.
  unsigned least(unsigned but = no_worker) const noexcept;
  void give(unsigned to) noexcept;
  void give_to_least() noexcept { give(least()); }
  /// By the ticker, while none has the turn: the timer may be due.
  void time_passes() noexcept;
  /// By worker i's thread: returns when it has the turn.
  void wait_for_turn(lock& guard, unsigned i) noexcept;
  void pass_on(lock& guard, unsigned i, rule r) noexcept;
  /// True if another must run before worker i, which has run for long.
  bool is_due(unsigned i) const noexcept { return goes_before(i, rule::polled) != no_worker; }
  /// The worker is woken at `woken`, and runs from `runs` on.
  void stops_sleeping(worker_state& w, std::int64_t woken, std::int64_t runs) noexcept;
  /// Worker i, which has the turn, is interrupted when the next thief, or a strand that is a slice behind, is due. `now`: clock_ticks() at
  /// its clock's time.
  void set_alarm(unsigned i, std::uint64_t now) noexcept;
  /// A worker can run that could not before: gives the turn to the least advanced if none has it; else sets the holder's alarm again.
  void come_in() noexcept;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<worker_state>> workers_;
  std::unique_ptr<ticker> ticker_;
  std::int64_t const slice_;    ///< how far strands may be apart
  double const ticks_;          ///< of clock_ticks() in a nanosecond
  std::uint64_t switches_ = 0;  ///< from one worker to another
  bool ended_ = false;
  std::int64_t counts_from_ = no_time;  ///< the report counts the workers' time from then on: while jobs from outside run

 private:
  friend class timeline_entry;
  bool may_rest_until(std::int64_t then) noexcept;
  std::int64_t key(worker_state const& w) const noexcept;
  unsigned goes_before(unsigned i, rule r) const noexcept;

  bool const measures_;
  std::uint64_t rests_since_ =
      0;  ///< in clock_ticks(), since when all sleep and the timer waits for its time to pass outside, too; 0: it does not
  std::atomic<unsigned> holder_{no_worker};
};

// How a worker's thread enters and leaves a simulation.

/// While it lives, worker i's thread is in the simulation and has the lock and the turn. The constructor waits for the turn if the worker
/// has lost it. After the destructor the worker's clock runs on. Once the simulation has ended, nothing waits and nothing is counted.
class timeline_entry {
 public:
  /// `lost`: nanoseconds before this that were not work.
  timeline_entry(timeline& whole, unsigned i, std::int64_t lost = 0) noexcept
      : of_{whole},
        index_{i},
        me_{whole.at(i).time.get()},
        worked_{std::max<std::int64_t>(0, whole.stop_watch(i) - lost)},
        guard{whole.mutex_} {
    if (of_.ended_) return;
    timeline::worker_state& w = of_.at(i);
    if (w.away.load(std::memory_order_relaxed)) of_.comes_back(i);  // relaxed: under the lock
    of_.advance(w, worked_, timeline::working);
    if (of_.holder() == i) return;
    w.now = timeline::state::ready;
    of_.come_in();
    of_.wait_for_turn(guard, i);
  }
  timeline_entry(timeline_entry const&) = delete;
  timeline_entry& operator=(timeline_entry const&) = delete;
  ~timeline_entry() {
    bool const goes = goes_on();
    if (goes) of_.set_alarm(index_, clock_ticks());
    guard.unlock();
    if (goes) of_.start_watch(index_);
  }
  bool goes_on() const noexcept { return !of_.ended_; }

 private:
  timeline& of_;
  unsigned const index_;
  virtual_time::not_interrupted const me_;
  std::int64_t const worked_;

 public:
  timeline::lock guard;
};

}  // namespace nopal::core
