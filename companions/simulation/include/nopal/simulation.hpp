#pragma once

// What a simulated machine has shown: how long the jobs of a pool would take there, and why. docs/simulation.md. Next: options.hpp,
// pool_options::simulate.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <optional>

#include "nopal/simulation_report.hpp"

namespace nopal::inline NOPAL_ABI {

class pool;

/// What the machine that `p` simulates has shown until now; nothing if it simulates none. While no job of the pool runs.
NOPAL_API std::optional<simulation_report> simulated(pool const& p);

/// Under NOPAL_SIMULATION=clock=given: the calling strand takes so long on the simulated machine. Elsewhere nothing. For tests of what a
/// schedule does with work of a known length.
NOPAL_API void simulate_work(std::chrono::nanoseconds time) noexcept;

}  // namespace nopal
