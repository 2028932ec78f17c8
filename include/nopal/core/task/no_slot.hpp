#pragma once

// Where the result of a task goes that nobody has started: a task's function that an ordinary function called directly. Next: worker.hpp, which
// hands it out; stack/stack_overflow.hpp, which tells the fault.

namespace nopal::core {

/// Constant memory: writing a result there is a fault.
void* place_without_slot() noexcept;
/// Does the address lie there?
bool is_without_slot(void const* address) noexcept;

}  // namespace nopal::core
