#pragma once

// At the end of a pool, what its simulated machine has shown: to standard error, or as a line of JSON at the end of the file that
// NOPAL_SIMULATION names. Next: ../../include/nopal/simulation.hpp, what is reported.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

class simulation;
struct simulation_costs;

/// Before a pool is made: throws std::system_error where the file cannot be written.
void check_report(simulation_costs const& c);
/// Nothing where nothing has run since the last time. While the pool has no threads.
void report_simulation(simulation& s) noexcept;

}  // namespace nopal::core
