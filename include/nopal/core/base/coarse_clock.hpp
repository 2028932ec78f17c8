#pragma once

// The system's coarse clock: for ages in reports, which people read. It has the steady clock's time of the kernel's last tick, 1 to 10 ms
// ago. Reading it takes some 3 ns on any machine, since it reads no hardware. Next: ../stack/stack.hpp, which keeps when a wait began.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Nanoseconds of the steady clock.
std::int64_t coarse_now() noexcept;

// From ticks of the processor's clock to nanoseconds.

/// By both clocks, from the first call on; that takes two milliseconds. Any thread.
double ticks_per_nanosecond() noexcept;

}  // namespace nopal::core
