#pragma once

// Counts what a profile could not keep for lack of memory: its hooks throw nothing, and its report has the number. Any thread. Next:
// path.hpp, totals.hpp.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

void out_of_memory() noexcept;
std::uint64_t times_out_of_memory() noexcept;

}  // namespace nopal::core
