#pragma once

// A pool in which nothing can run any more: in builds with assertions it says so.

#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::core {

/// A worker is about to sleep. If nothing can run now, and still cannot after tuning::stuck_after, a report is printed.
void watch_for_stuck_pool(pool_state& pool) noexcept;

}  // namespace nopal::core
