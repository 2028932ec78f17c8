#pragma once

// How a worker's thread enters and leaves a simulation. Next: simulation.cpp.

#include <algorithm>
#include <cstdint>

#include "nopal/core/architecture/instructions.hpp"
#include "simulation/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
