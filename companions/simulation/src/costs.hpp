#pragma once

// Costs in a simulation that one CPU cannot show, since they arise between two. Read from NOPAL_SIMULATION; measured by ./nopal calibrate.
// Next: simulation.hpp, which charges them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// In nanoseconds. The lists have a cost for each distance between two workers that the topology knows, the nearest first. Beyond the end
/// of a list its last entry holds.
struct simulation_costs {
  std::vector<double> look{60, 120};    ///< a thief looks at one other worker, and finds nothing
  std::vector<double> steal{350, 800};  ///< it steals: until the stolen work runs, with the cache lines that it needs
  double relax = 20;                    ///< a pause of the processor
  double yield = 500;                   ///< a thread lets others have the CPU
  double wake = 4'000;                  ///< for the thread that wakes another
  double wake_up = 25'000;              ///< from then until the woken thread runs
  double slice = 100'000;               ///< how far a worker that runs a strand may get ahead of another that does, too
  bool measures = true;                 ///< false: strands take only the time that nopal::simulate_work says: for tests
  std::string report;                   ///< the file for the report, as a line of JSON; empty: standard error, in words

  double look_at(unsigned distance) const noexcept { return at(look, distance); }
  double steal_from(unsigned distance) const noexcept { return at(steal, distance); }

  /// Reads "steal=300/700,wake_up=20000", or "@FILE" with such words in it, or both; later words win. Throws std::invalid_argument with the
  /// error, the limits and what to write.
  static simulation_costs parse(std::string_view text);
  /// Parses NOPAL_SIMULATION.
  static simulation_costs from_environment();

 private:
  static double at(std::vector<double> const& list, unsigned distance) noexcept {
    return list[distance < list.size() ? distance : list.size() - 1];
  }
};

}  // namespace nopal::core
