#pragma once

// Identity of the current worker or thread. combinable.hpp keeps one object for each.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// An address that stands for the caller's worker, or for the caller's thread if it works for no pool. No two that run at once have the
/// same. Never inlined: a caller that changes threads must ask again, and no compiler may keep the result.
NOPAL_API [[gnu::noinline]] void const* current_identity() noexcept;

}  // namespace nopal::core
