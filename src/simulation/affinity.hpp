#pragma once

// Where the threads of a simulation run: the workers, of which one runs at a time, share one CPU, and the ticker has the others.

#include <vector>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The calling thread runs on these CPUs from now on; where the system does not allow that, or there are none, where it did.
void move_to(std::vector<int> const& cpus) noexcept;

}  // namespace nopal::core
