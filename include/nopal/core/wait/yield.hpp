#pragma once

// Letting others run first. Next: await_wake.hpp.

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Leaves the stack that runs here until everything that waits for its worker now has had its turn. False: the caller works for no pool.
bool yield_stack() noexcept;

}  // namespace nopal::core
