#pragma once

// Whether threads of the process outside a simulated machine are active: simulation::nobody_acts_outside. Next: timeline.cpp, which calls
// it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The number of threads of the process, by the system. Does not call malloc, since a thread that waits for its turn may hold malloc's
/// lock.
unsigned threads_of_process() noexcept;

}  // namespace nopal::core
