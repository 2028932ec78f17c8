#pragma once

// From ticks of the processor's clock to nanoseconds.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// By both clocks, from the first call on; that takes two milliseconds. Any thread.
double ticks_per_nanosecond() noexcept;

}  // namespace nopal::core
