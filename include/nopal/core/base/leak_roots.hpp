#pragma once

// What LeakSanitizer must look through for pointers where a process ends while threads still work on native stacks: it knows only where each
// thread's own stack lies. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

#include <atomic>
#include <cstddef>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Is LeakSanitizer there? Without it, the functions below do nothing.
bool leaks_are_looked_for() noexcept;
/// It will look through [begin, begin + bytes), or what of that is mapped then.
void add_leak_root(void const* begin, std::size_t bytes) noexcept;
/// It will look through the mapping that holds `address`; null, or an address where nothing is mapped, does nothing. Reads /proc/self/maps.
void add_mapping_as_leak_root(void const* address) noexcept;

/// The process ends, and pools stay: a stack that is made from now on is a root too. relaxed: a thread that misses it for a moment was about
/// to make its stack before.
inline std::atomic<bool> new_stacks_are_leak_roots{false};

}  // namespace nopal::core
