#pragma once

// Warns of a pool in which nothing can run any more, in builds with assertions. Called by the search for work. Next:
// core/report/report.hpp.

#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Prints a report on stderr if nothing can run in `pool` now, and still cannot after tuning::stuck_after. By a worker that is about to
/// sleep. Without assertions it does nothing.
void watch_for_stuck_pool(pool_state& pool) noexcept;

}  // namespace nopal::core
