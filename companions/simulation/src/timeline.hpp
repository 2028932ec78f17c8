#pragma once

// The workers of a simulated machine, and its timer: how far the clock of each is, who has the turn, and who goes on next. All under one mutex.
// README.md, "Who goes on". Next: simulation.hpp, which says what happens; entry.hpp, how a worker's thread comes in.

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/config.hpp"
#include "simulation/src/clock.hpp"
#include "simulation/src/thread_alarm.hpp"

namespace nopal::inline NOPAL_ABI::core {

class ticker;

class timeline {
 public:
  timeline(timeline const&) = delete;
  timeline& operator=(timeline const&) = delete;

 protected:
  static constexpr unsigned no_worker = ~0u;
  /// A time that does not come.
  static constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();
  /// The first of all times, in nanoseconds: 0 means something else to those who ask for it.
  static constexpr std::int64_t beginning = 1'000'000;

  using lock = std::unique_lock<std::mutex>;
  enum class state : std::uint8_t { absent, ready, runs, sleeps };
  /// Who goes before worker i?
  enum class rule : std::uint8_t {
    exact,     ///< all that are behind
    polled,    ///< thieves, if they are behind or but little ahead; strands, if they are a slice behind
    late,      ///< the same, but no thief that is ahead
    searches,  ///< all that are behind, but for the time of some looks
    waits,     ///< the same, for a thief that waits for its victim's answer: but for a little
  };
  enum kind : std::uint8_t { working, searching, waking, asleep, kinds };

  /// Of worker i, or, as the last of them, of the timer. Its thread alone uses `measures` and `watch`; it and whoever has the lock all else.
  struct worker_state {
    std::atomic<std::uint32_t> turn{0};  ///< 1: it has been given the turn; its thread sleeps on this
    state now = state::absent;
    bool searches = false;          ///< as search_state::searching: its clock is not measured
    bool found = false;             ///< it has found something, and will run that
    bool rests = false;             ///< it has the turn, and sleeps in the machine's time, since nobody does anything
    std::atomic<bool> away{false};  ///< it has lost the turn while it waited in the kernel, and comes back by itself
    bool measures = false;          ///< its clock runs on by itself: it has the turn, and runs a strand
    std::int64_t clock = beginning;
    std::int64_t wakes_at = 0;  ///< while it sleeps: by itself; virtual_time::for_ever: not
    std::atomic<std::uint32_t> const* sleeps_on = nullptr;
    std::int64_t ahead = 0;  ///< thieves may be so far ahead of it: it is in the middle of something long
    stopwatch watch;
    thread_alarm alarm;
    std::uint64_t ticks = 0;  ///< of the processor's clock, when it went on
    clockid_t cpu_time{};
    pthread_t thread{};
    int thread_number = 0;                    ///< the system's
    std::int64_t used_before = 0;             ///< its CPU time, when the ticker looked last
    std::array<std::int64_t, kinds> spent{};  ///< by `kind`
    std::atomic<std::int64_t> disturbed{0};   ///< it did not have the CPU for so long, or stole from a worker that was not stopped in time
    std::uint64_t wakeups = 0;
    std::vector<std::uint64_t> stolen;  ///< by distance
    std::unique_ptr<virtual_time> time;

    /// Is it a thief, or about to be one?
    bool looks() const noexcept { return (searches && !found) || now == state::sleeps; }
  };

  /// `slice`: so far strands may be apart, in nanoseconds. `measures`: their clocks run by themselves.
  timeline(std::int64_t slice, bool measures) noexcept;
  virtual ~timeline();

  /// Does no thread of the process but those of this machine run, or wait for a time to come? With the lock.
  virtual bool nobody_acts_outside() const noexcept = 0;

  unsigned timer() const noexcept { return static_cast<unsigned>(workers_.size()) - 1; }
  worker_state& at(unsigned i) noexcept { return *workers_[i]; }
  worker_state const& at(unsigned i) const noexcept { return *workers_[i]; }
  // relaxed, both: changed under the lock; who reads it without that looks again with it
  unsigned holder() const noexcept { return holder_.load(std::memory_order_relaxed); }
  void set_holder(unsigned i) noexcept { holder_.store(i, std::memory_order_relaxed); }

  // ---- By worker i's thread, without the lock.

  /// The strand goes on, or comes in: how long it has worked since it went on. What comes between the two takes no time, so this is the first
  /// thing that it does, and that the last.
  void start_watch(unsigned i) noexcept;
  std::int64_t stop_watch(unsigned i) noexcept;
  /// Takes the lock.
  std::int64_t now(unsigned i) const noexcept;

  // ---- With the lock.

  void advance(worker_state& w, std::int64_t nanoseconds, kind k) noexcept;
  std::int64_t latest() const noexcept;
  /// Worker i, which was away, is back. What it has waited for came from whoever runs now, as far as anybody knows: it went on no earlier.
  void comes_back(unsigned i) noexcept;
  /// The least advanced of those that can go on, `but` left out.
  unsigned least(unsigned but = no_worker) const noexcept;
  void give(unsigned to) noexcept;
  void give_to_least() noexcept { give(least()); }
  /// By the ticker, while nobody has the turn: it may be time for the timer.
  void time_passes() noexcept;
  /// By worker i's thread: returns when it has the turn.
  void wait_for_turn(lock& guard, unsigned i) noexcept;
  void pass_on(lock& guard, unsigned i, rule r) noexcept;
  /// Is another to go on before worker i, which has run for long?
  bool is_due(unsigned i) const noexcept { return goes_before(i, rule::polled) != no_worker; }
  /// The worker stops to sleep at `woken`, and runs from `runs` on.
  void stops_sleeping(worker_state& w, std::int64_t woken, std::int64_t runs) noexcept;
  /// The worker that has the turn is to be interrupted when the next thief, or a strand that is a slice behind, is due. `now`: its clock, in
  /// ticks of the processor's.
  void set_alarm(unsigned i, std::uint64_t now) noexcept;
  /// Somebody can run who could not: gets the turn if nobody has it, and may be due before whoever that is expects anybody.
  void come_in() noexcept;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<worker_state>> workers_;
  std::unique_ptr<ticker> ticker_;
  std::int64_t const slice_;    ///< so far strands may be apart
  double const ticks_;          ///< of clock_ticks() in a nanosecond
  std::uint64_t switches_ = 0;  ///< from one worker to another
  bool ended_ = false;
  std::int64_t counts_from_ = no_time;  ///< what the workers do from then on is in the report: while jobs from outside run

 private:
  friend class timeline_entry;
  bool may_rest_until(std::int64_t then) noexcept;
  std::int64_t key(worker_state const& w) const noexcept;
  unsigned goes_before(unsigned i, rule r) const noexcept;

  bool const measures_;
  std::uint64_t rests_since_ =
      0;  ///< by clock_ticks(), nobody has done anything, and the timer waits until its time has come outside, too; 0: not so
  std::atomic<unsigned> holder_{no_worker};
};

}  // namespace nopal::core
