#pragma once

// The slot of a task that nopal did not start: of a task's function that an ordinary function called directly. Any thread may call. Next:
// scheduler/worker.hpp, which gives it to the next task without a parent; stack/stack_overflow.hpp, which explains the fault.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The address of constant memory: writing a result there is a fault.
void* place_without_slot() noexcept;
/// True if the address is in that memory.
bool is_without_slot(void const* address) noexcept;

}  // namespace nopal::core
