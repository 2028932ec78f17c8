#pragma once

// Writes the report of a simulated machine at the end of its pool: to standard error, or as a line of JSON at the end of the file that
// NOPAL_SIMULATION names. Next: ../include/nopal/simulation_report.hpp, what is reported.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

class simulation;
struct simulation_costs;

/// Before a pool is made. Throws std::system_error if the file cannot be written.
void check_report(simulation_costs const& c);
/// Does nothing if nothing has run since the last call. While the pool has no threads.
void report_simulation(simulation& s) noexcept;

}  // namespace nopal::core
