#pragma once

// Whether the process is about to end, by exit or since main has returned. Then static objects are destroyed while fibers and jobs still
// use them, which is no mistake of the program: no thread waits for them. Any thread. Next: fatal.hpp, which asks.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// True if the calling thread has called exit, and runs functions that were given to atexit, or destructors of static objects. False if
/// that cannot be found out. Walks the stack.
bool is_in_exit() noexcept;

}  // namespace nopal::core
