#pragma once

// Whose an object is that belongs to one worker at a time: combinable.hpp keeps one for each.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// An address that stands for the worker for which the caller works, or for its thread if it works for no pool: no two that run at once have the same.
/// Never inlined: a caller that changes threads must ask again, and no compiler may keep what it got.
NOPAL_API [[gnu::noinline]] void const* asker() noexcept;

}  // namespace nopal::core
