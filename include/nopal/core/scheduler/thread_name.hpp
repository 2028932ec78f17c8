#pragma once

// What a thread is called, for top, gdb, perf and the pool's reports.

#include <string_view>

namespace nopal::core {

/// Calls the calling thread name:what, in the 15 characters that the system keeps: of a longer name the end is left out. Nothing if `name` is
/// empty.
void name_this_thread(std::string_view name, std::string_view what) noexcept;

}  // namespace nopal::core
