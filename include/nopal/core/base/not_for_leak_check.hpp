#pragma once

// Memory that LeakSanitizer must not take for a leak: only native stacks, or the beginning of a thread, point to it, and it does not look
// there. Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// While it lives, this thread's allocations count as no leak.
struct not_for_leak_check {
  not_for_leak_check() noexcept;
  not_for_leak_check(not_for_leak_check const&) = delete;
  not_for_leak_check& operator=(not_for_leak_check const&) = delete;
  ~not_for_leak_check();
};

}  // namespace nopal::core
