#pragma once

// Memory that LeakSanitizer must search for pointers if a process ends while threads still work on native stacks: it knows only each
// thread's own stack. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

#include <atomic>
#include <cstddef>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// True if LeakSanitizer is there. Without it, the functions below do nothing.
bool leaks_are_looked_for() noexcept;
/// It will search [begin, begin + bytes), or the part of it that is mapped then.
void add_leak_root(void const* begin, std::size_t bytes) noexcept;
/// It will search the mapping that holds `address`. Does nothing if that is null, or nothing is mapped there. Reads /proc/self/maps.
void add_mapping_as_leak_root(void const* address) noexcept;

/// An address in the memory that has the frames of the stack which runs here: AddressSanitizer's own for this stack, if it keeps some there.
void const* frames_here() noexcept;

/// The process ends, and pools stay: a stack that is made from now on is a root too. relaxed: a thread that misses it for a moment was
/// about to make its stack before.
inline std::atomic<bool> new_stacks_are_leak_roots{false};

// Memory that LeakSanitizer must not take for a leak: only native stacks, or the beginning of a thread, point to it, and it does not look
// there. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

/// While it lives, this thread's allocations count as no leak.
struct not_for_leak_check {
  not_for_leak_check() noexcept;
  not_for_leak_check(not_for_leak_check const&) = delete;
  not_for_leak_check& operator=(not_for_leak_check const&) = delete;
  ~not_for_leak_check();
};

}  // namespace nopal::core
