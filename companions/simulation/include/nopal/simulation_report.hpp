#pragma once

// simulation_report: the result of a simulated machine. Plain data, and its texts. Next: simulation.hpp, which returns it.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI {

/// Of one pool, since it was made. All times are simulated, except `disturbed` and `outside`.
struct simulation_report {
  /// From the beginning of a job from outside the pool to the end of all such jobs: T_P of the program's parallel parts.
  std::chrono::nanoseconds elapsed{};
  // In that time, summed over the workers, each by its own clock.
  std::chrono::nanoseconds working{};    ///< in strands: the time of one worker, plus what stealing has added
  std::chrono::nanoseconds searching{};  ///< looking for work, and stealing it
  std::chrono::nanoseconds waking{};     ///< from being woken to running
  std::chrono::nanoseconds asleep{};
  /// How long other programs had the CPU of a strand, or of the thread that stops strands in time. The simulated times leave out the first,
  /// as far as they can, and count the second as search. Trust the figures only if this is a small part of `working`.
  std::chrono::nanoseconds disturbed{};
  /// The CPU time of the program's other threads until now: what the program does before, between and beside its jobs. Not in `elapsed`.
  std::chrono::nanoseconds outside{};
  unsigned workers = 0;
  std::uint64_t wakeups = 0;
  /// The number of steals at each distance, the nearest first; and the topology's numbers of these distances.
  std::vector<std::uint64_t> steals;
  std::vector<int> distances;
  std::uint64_t switches = 0;  ///< how often the turn changed: the cost of the simulation itself
  /// How often a worker lost its turn, since it waited for another in a way that the simulation does not see. If this is not 0, do not
  /// trust the times.
  std::uint64_t lost_turns = 0;

  /// The part of the workers' time that was spent in strands: `working` / (P · T_P). 0 if nothing has run. It is not a speed-up, as it
  /// includes what waiting and stealing add to the strands. The speed-up is T_1 / T_P, with the `elapsed` of a run on one simulated worker.
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
