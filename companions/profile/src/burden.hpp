#pragma once

// What it costs to take work from another worker, on this machine.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// In ticks of the processor's clock: from a fork until a worker that was looking for work runs the later half, the median of
/// many. Measured by the first call, in some milliseconds, with a pool of two workers; where two cannot run at once it is what
/// is usual. Any thread.
std::uint64_t burden_of_this_machine();

}  // namespace nopal::core
