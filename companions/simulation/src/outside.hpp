#pragma once

// What threads of the process do that are none of a simulated machine's: simulation::nobody_acts_outside. Next: simulation.cpp, which asks.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// How many threads the process has, by the system's word, and without malloc, whose lock a thread may hold that waits for its turn.
unsigned threads_of_process() noexcept;

}  // namespace nopal::core
