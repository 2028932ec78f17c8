#pragma once

// A simulated machine: as many workers as somebody wishes run one at a time, each with a clock of its own, and the one that is least advanced
// runs next. A worker's clock goes on by the time that its strands really take, and by what a list of costs says of what happens between two
// CPUs. What it decides is what ships: search.cpp, parking.hpp, deque.hpp run unchanged, in this time. README.md. Next: costs.hpp.

#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/simulation/clock.hpp"
#include "nopal/core/simulation/costs.hpp"

namespace nopal::inline NOPAL_ABI {
struct simulation_report;
}

namespace nopal::inline NOPAL_ABI::core {

class ticker;

class simulation final : public virtual_time::domain {
 public:
  static constexpr unsigned no_worker = ~0u;

  /// `where[i]`: the place of worker i. `cpus`: those that the process may use; the workers share one of them. `ask(i)` makes the next fork
  /// of worker i poll; any thread calls it.
  simulation(simulation_costs costs, topology const& machine, std::span<place const> where, std::vector<int> cpus,
             std::function<void(unsigned)> ask);
  ~simulation();

  // ---- By worker i. Each may pass the turn on, and returns when worker i has it.

  /// The worker's thread has begun. Before anything else.
  void enter(unsigned i) noexcept;
  /// The worker's thread ends.
  void leave(unsigned i) noexcept;
  /// What comes now must come after all that others do earlier: whoever is behind goes first.
  void reach(unsigned i) noexcept;
  /// The worker's strand has polled: thieves about this time go first, and whoever else is far behind.
  void polled(unsigned i) noexcept;
  /// The worker is about to look at `victim`, as a thief.
  void looks_at(unsigned i, unsigned victim) noexcept;
  /// It pauses so often before it looks again.
  void backs_off(unsigned i, std::uint64_t pauses) noexcept;
  /// What it has taken from there is about to run.
  void stole(unsigned i, unsigned victim) noexcept;

  // ---- By worker i, and nothing is passed on.

  /// From now on the worker searches, and what it does takes the time that the costs say; or no longer.
  void searches(unsigned i, bool does) noexcept;
  /// The strand has worked for so many nanoseconds: where the clock is given.
  void works(unsigned i, std::int64_t nanoseconds) noexcept;
  /// A job that came from outside has ended.
  void job_ended(unsigned i) noexcept;

  // ---- By any thread.

  /// A job comes from outside: simulated time counts until all such have ended.
  void job_begins() noexcept;
  /// From now on all run freely; all have been woken, or will be, by whoever calls.
  void end() noexcept;
  /// All threads have ended, and others are about to begin.
  void begin_again() noexcept;
  simulation_report report() const;
  simulation_costs const& costs() const noexcept { return costs_; }
  /// How often a worker lost the turn, since it waited for another in a way that the simulation does not see.
  std::uint64_t lost() const noexcept;

 private:
  friend class ticker;
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

  struct own_time;
  struct worker_state {
    std::atomic<std::uint32_t> turn{0};  ///< 1: it has been given the turn; its thread sleeps on this
    state now = state::absent;
    bool searches = true;
    bool rests = false;     ///< it has the turn, and sleeps in the machine's time, since nobody does anything
    bool found = false;     ///< it has found something, and will run that
    bool measures = false;  ///< its clock runs on by itself: it has the turn, and runs a strand
    std::int64_t clock = 0;
    std::int64_t wakes_at = 0;               ///< while it sleeps: by itself; virtual_time::for_ever: not
    std::int64_t slept_from = 0;
    std::atomic<std::uint32_t> const* sleeps_on = nullptr;
    std::int64_t ahead = 0;                  ///< thieves may be so far ahead of it: it is in the middle of something long
    stopwatch watch;
    std::uint64_t ticks = 0;                 ///< of the processor's clock, when it went on
    clockid_t cpu_time{};
    pthread_t thread{};
    int thread_number = 0;                   ///< the system's
    std::int64_t used_before = 0;            ///< its CPU time, when the ticker looked last
    std::array<std::int64_t, kinds> spent{};  ///< by `kind`
    std::uint64_t wakeups = 0;
    std::vector<std::uint64_t> stolen;       ///< by distance
    std::unique_ptr<own_time> time;
    /// Is it a thief, or about to be one?
    bool looks() const noexcept { return (searches && !found) || now == state::sleeps; }
  };

  class entry;
  worker_state& at(unsigned i) noexcept { return *workers_[i]; }
  unsigned rank(unsigned i, unsigned j) const noexcept { return ranks_[i * workers_.size() + j]; }
  void advance(worker_state& w, std::int64_t nanoseconds, kind k) noexcept;
  void start_watch(unsigned i) noexcept;
  std::int64_t stop_watch(unsigned i) noexcept;
  std::int64_t key(worker_state const& w) const noexcept;
  unsigned goes_before(unsigned i, rule r) const noexcept;
  unsigned least() const noexcept;
  void give(unsigned to) noexcept;
  void give_to_least() noexcept;
  void wait_for_turn(lock& guard, unsigned i) noexcept;
  void pass_on(lock& guard, unsigned i, rule r) noexcept;
  void stops_sleeping(worker_state& w, std::int64_t at, std::int64_t until) noexcept;
  void sleep(unsigned i, std::atomic<std::uint32_t> const* on, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
  bool wake(std::atomic<std::uint32_t> const& a, bool all) noexcept override;
  void rests(unsigned i, bool does) noexcept;
  void interrupted(unsigned i) noexcept;
  void set_alarm(unsigned i, std::uint64_t now) noexcept;
  bool wake_sleepers(std::atomic<std::uint32_t> const& a, bool all, unsigned waker) noexcept;
  void come_in() noexcept;
  bool unblock(unsigned i) noexcept;
  std::int64_t now(unsigned i) const noexcept;
  /// Something takes so long. False: the simulation has ended.
  bool takes(unsigned i, double nanoseconds, rule r) noexcept;
  std::int64_t latest() const noexcept;

  simulation_costs const costs_;
  std::vector<int> const cpus_;
  std::function<void(unsigned)> const ask_;
  double const ticks_;  ///< of clock_ticks() in a nanosecond
  std::vector<std::unique_ptr<worker_state>> workers_;
  std::vector<unsigned> ranks_;   ///< of the distance from i to j, the nearest first
  std::vector<int> distances_;    ///< what these ranks stand for
  mutable std::mutex mutex_;
  std::atomic<unsigned> holder_{no_worker};
  unsigned present_ = 0;  ///< how many threads have come
  std::condition_variable all_present_;
  std::uint64_t turns_ = 0;  ///< given
  bool ended_ = false;
  std::uint64_t lost_ = 0;
  // Jobs from outside.
  std::int64_t began_ = 0;
  std::int64_t last_end_ = 0;
  std::int64_t elapsed_ = 0;
  unsigned jobs_ = 0;
  std::unique_ptr<ticker> ticker_;
};

}  // namespace nopal::core
