#pragma once

// named: the earlier name of fiber_name. Next: fiber_name.hpp.

#include "nopal/core/compiler/config.hpp"

#include "nopal/fiber_name.hpp"

namespace nopal::inline NOPAL_ABI {

/// Deprecated: write fiber_name.
using named NOPAL_DEPRECATED("write nopal::fiber_name") = fiber_name;

}  // namespace nopal
