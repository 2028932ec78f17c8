#pragma once

// The name of a stop region: what everything carries that runs in one. Next: stop_region.hpp, which is what it names; README.md.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Four bytes, so that it lies where a resumable has room left. Ids are used again once their region has ended.
using region_id = std::uint32_t;

/// What runs outside of all regions: only the whole pool can be asked to stop.
inline constexpr region_id no_region = 0;

}  // namespace nopal::core
