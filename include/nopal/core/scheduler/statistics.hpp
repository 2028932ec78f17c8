#pragma once

// The numbers of a pool, read while it runs, by any thread. Next: ../../stats.hpp, what users see.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/stats.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Reads all numbers, each at its own moment. Throws std::bad_alloc. O(workers + native stacks); a mincore for every 2 MiB of stack.
NOPAL_API stats read_stats(pool_state const& pool);

}  // namespace nopal::core
