#pragma once

// Letting others run first. Next: await_wake.hpp, by which the caller waits; waiting_stack.hpp, whose resume_later resumes it.

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Suspends the calling stack until everything that waits for its worker now has run. False: the caller works for no pool, and nothing has
/// happened. True at once where nothing waits for the worker, or there is no memory for another stack.
bool yield_stack() noexcept;

}  // namespace nopal::core
