#pragma once

// Shadow stacks of x86-64, which know one native stack a thread, so that a switch to another stack is a fault. No part of nopal is marked
// as made for them, so the loader leaves them off, unless the system forces them. Next: ../scheduler/scheduler.hpp, which makes no pool
// where they are on.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// True if the calling thread runs with a shadow stack.
inline bool shadow_stacks_are_on() noexcept {
#if defined(__x86_64__)
  std::uint64_t pointer = 0;
  asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(pointer));  // rdsspq %rax: no operation without one
  return pointer != 0;
#else
  return false;
#endif
}

}  // namespace nopal::core
