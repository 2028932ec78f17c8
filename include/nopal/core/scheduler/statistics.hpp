#pragma once

// The numbers of a pool, read while it runs. Next: counters.hpp, what the workers count; ../../stats.hpp, what users see.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/stats.hpp"

namespace nopal::core {

/// Each number is of its own moment. Throws std::bad_alloc.
NOPAL_API stats read_stats(pool_state const& pool);

}  // namespace nopal::core
