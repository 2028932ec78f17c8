#pragma once

// What waits for what in a pool, in words: README.md says why looking is safe while everything runs. Next: ../wait/waits_for.hpp, what those that
// wait say; src/report, how functions get their names.

#include <string>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::core {

/// See pool::report. Throws std::bad_alloc.
NOPAL_API std::string report(pool_state const& pool);

}  // namespace nopal::core
