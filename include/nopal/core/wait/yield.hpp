#pragma once

// Letting others run first. Next: await_wake.hpp, by which the caller waits; event.hpp, whose resume_later resumes it.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Suspends the calling stack, and first lets what waits for its worker now run: usually all of it, but now and then a worker first takes
/// what came from outside, or a thief takes the stack. False: the caller works for no pool, and nothing has happened. True at once if
/// nothing waits for the worker, or there is no memory for another stack.
bool yield_stack() noexcept;

}  // namespace nopal::core
