#pragma once

// The name of a stop region: all that runs in the region carries it. Next: stop_region.hpp, which is what it names; README.md.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Four bytes, so that it fits where a resumable has room left. Ids are used again once their region has ended.
using region_id = std::uint32_t;

/// Code outside of all regions: only a request to the whole pool reaches it.
inline constexpr region_id no_region = 0;

}  // namespace nopal::core
