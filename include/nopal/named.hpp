#pragma once

// named: the name that fiber_name had before version 0.2. Next: fiber_name.hpp.

#include "nopal/core/compiler/config.hpp"

#include "nopal/fiber_name.hpp"

namespace nopal::inline NOPAL_ABI {

/// Deprecated: write fiber_name.
using named NOPAL_DEPRECATED("write nopal::fiber_name") = fiber_name;

}  // namespace nopal
