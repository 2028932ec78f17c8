#pragma once

// For LeakSanitizer, which looks for pointers only on the stacks of threads that it knows. The process may end while native stacks of a
// pool hold frames; what these point to has not leaked. Called by scheduler.hpp. This is a side path: nothing comes after it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// Calls f() when the process ends by exit, before LeakSanitizer looks, if that is there.
void call_before_leak_check(void (*f)() noexcept) noexcept;
/// The process ends, and the pool stays: LeakSanitizer, if it is there, looks for pointers in the pool's native stacks too, and in the
/// stacks that the pool's threads and callers have left for them.
void note_for_leak_check(pool_state const& pool) noexcept;

}  // namespace nopal::core
