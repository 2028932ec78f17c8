#pragma once

// The result of a simulated machine: how long the jobs of a pool would take there, and why. docs/simulation.md. Next: nopal/options.hpp,
// experimental_options::simulate.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <optional>

#include "nopal/simulation_report.hpp"

namespace nopal::inline NOPAL_ABI {

class pool;

/// The report of the machine that `p` simulates, until now; nothing if it simulates none. While no job of the pool runs.
NOPAL_API std::optional<simulation_report> simulated(pool const& p);

/// Under NOPAL_SIMULATION=clock=given: the calling strand takes `time` on the simulated machine. Elsewhere does nothing. For tests of a
/// schedule with work of a known length.
NOPAL_API void simulate_work(std::chrono::nanoseconds time) noexcept;

}  // namespace nopal
