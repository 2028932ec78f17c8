#pragma once

// The version of nopal: of the headers as macros, of the library as a function. They differ if a program runs with another shared library
// than it was compiled for.

#include "nopal/core/compiler/config.hpp"

#define NOPAL_VERSION_MAJOR 0
#define NOPAL_VERSION_MINOR 2
#define NOPAL_VERSION_PATCH 0
/// One number, to compare: 10000 × major + 100 × minor + patch.
#define NOPAL_VERSION (10000 * NOPAL_VERSION_MAJOR + 100 * NOPAL_VERSION_MINOR + NOPAL_VERSION_PATCH)
/// As text.
#define NOPAL_VERSION_STRING "0.2.0"

namespace nopal::inline NOPAL_ABI {

/// NOPAL_VERSION as the library was compiled with. O(1), any thread.
NOPAL_API int version() noexcept;

}  // namespace nopal
