#pragma once

// What LeakSanitizer must not take for a leak: memory to which only native stacks point, or the beginning of a thread, where it does not look.
// Used by the rooms stack and scheduler. This is a side path: nothing comes after it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// While it lives, what this thread allocates counts as no leak.
struct not_for_leak_check {
  not_for_leak_check() noexcept;
  not_for_leak_check(not_for_leak_check const&) = delete;
  not_for_leak_check& operator=(not_for_leak_check const&) = delete;
  ~not_for_leak_check();
};

}  // namespace nopal::core
