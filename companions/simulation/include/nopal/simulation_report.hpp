#pragma once

// simulation_report: what a simulated machine has shown. Plain data, and its texts. Next: simulation.hpp, where it comes from.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI {

/// Of one pool, since it was made. Times are those of the simulated machine.
struct simulation_report {
  /// From a job that came from outside the pool to the end of all such: T_P of the program's parallel parts.
  std::chrono::nanoseconds elapsed{};
  // In that time, summed over the workers, each by its own clock.
  std::chrono::nanoseconds working{};    ///< in strands: what one worker would take, and what stealing has added to that
  std::chrono::nanoseconds searching{};  ///< looking for work, and stealing it
  std::chrono::nanoseconds waking{};     ///< from being woken to running
  std::chrono::nanoseconds asleep{};
  /// For so long other programs had the CPU while a strand was to run on it, or the thread that stops strands in time. The simulated times leave
  /// the first out, as far as they can, and count the second as search: a figure is worth something where this is a small part of `working`.
  std::chrono::nanoseconds disturbed{};
  /// The CPU time of the program's other threads until now, which `elapsed` leaves out: what it does before, between and beside its jobs.
  std::chrono::nanoseconds outside{};
  unsigned workers = 0;
  std::uint64_t wakeups = 0;
  /// How often work was taken from a worker at each distance, the nearest first; and what the topology calls these distances.
  std::vector<std::uint64_t> steals;
  std::vector<int> distances;
  std::uint64_t switches = 0;  ///< how often another worker went on: what the simulation itself costs
  /// How often a worker lost its turn, since it waited for another in a way that the simulation does not see: where this is not 0 the times
  /// are not to be trusted.
  std::uint64_t lost_turns = 0;

  /// Of what the workers had, which part went into strands: `working` / (P · T_P). 0 if nothing has run. It is no speed-up: what waiting and
  /// stealing add to the strands is in it. The speed-up is T_1 / T_P, with the `elapsed` of a run on one simulated worker.
  double efficiency() const noexcept {
    double const had = static_cast<double>(elapsed.count()) * workers;
    return had > 0 ? static_cast<double>(working.count()) / had : 0;
  }
};

/// As a line of JSON, times in nanoseconds. Throws std::bad_alloc.
NOPAL_API std::string to_json(simulation_report const& r);
/// In words, four lines.
NOPAL_API std::string to_text(simulation_report const& r);

}  // namespace nopal
