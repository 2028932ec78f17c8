#pragma once

// What things cost in a simulation that one CPU cannot show, since they happen between two. Read from NOPAL_SIMULATION; measured by
// ./nopal calibrate. Next: simulation.hpp, which charges them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// In nanoseconds. The lists have a cost for each distance between two workers that the topology knows, the nearest first; what is farther
/// than a list is long costs what its last entry says.
struct simulation_costs {
  std::vector<double> look{60, 120};    ///< a thief looks at one other worker, and finds nothing
  std::vector<double> steal{350, 800};  ///< it takes something: from there until that runs, with the lines that must come over
  double relax = 20;                    ///< a pause of the processor
  double yield = 500;                   ///< a thread lets others have the CPU
  double wake = 4'000;                  ///< for whoever wakes a thread
  double wake_up = 25'000;              ///< from there until that thread runs
  double slice = 100'000;               ///< so far a worker that runs a strand may get ahead of one that does, too
  bool measures = true;                 ///< false: what strands run takes no time, but what nopal::core::simulate_work says: for tests
  std::string report;                   ///< where the report goes, as a line of JSON: a file; empty: standard error, in words

  double look_at(unsigned distance) const noexcept { return at(look, distance); }
  double steal_from(unsigned distance) const noexcept { return at(steal, distance); }

  /// "steal=300/700,wake_up=20000", or "@FILE" with such words in it, or both, later ones last. Throws std::invalid_argument, with what is
  /// wrong, the limits and what to write.
  static simulation_costs parse(std::string_view text);
  /// What NOPAL_SIMULATION says.
  static simulation_costs from_environment();

 private:
  static double at(std::vector<double> const& list, unsigned distance) noexcept {
    return list[distance < list.size() ? distance : list.size() - 1];
  }
};

}  // namespace nopal::core
