#pragma once

// Where the result goes of a task that was not started by nopal: of a task's function that an ordinary function called directly. Any thread
// may call. Next: scheduler/worker.hpp, which lets the next task without a parent find it; stack/stack_overflow.hpp, which explains the
// fault.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The address of constant memory: writing a result there is a fault.
void* place_without_slot() noexcept;
/// Does the address lie in that memory?
bool is_without_slot(void const* address) noexcept;

}  // namespace nopal::core
