#pragma once

// The name of a pool's thread, for top, gdb and perf. By scheduler.cpp and wait/timer.cpp, on a thread that has just begun.

#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Names the calling thread name:what, in the 15 characters that the system keeps; cuts off the end of a longer `name`. Does nothing if
/// `name` is empty.
void name_this_thread(std::string_view name, std::string_view what) noexcept;

}  // namespace nopal::core
