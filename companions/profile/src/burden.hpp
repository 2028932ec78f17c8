#pragma once

// The cost of a steal on this machine.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// In ticks of the processor's clock: from a fork until a worker that searches runs the later half, the median of many. The first call
/// measures it, in some milliseconds, with a pool of two workers; if two cannot run at once it is a usual value. Any thread.
std::uint64_t burden_of_this_machine();

}  // namespace nopal::core
