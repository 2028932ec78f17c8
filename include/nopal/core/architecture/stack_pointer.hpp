#pragma once

// The stack pointer, and comparing it with a word in memory: by one instruction where the machine has one. Any thread. Next:
// ../task/fork_state.hpp and ../deque/deque.hpp, where forks compare it with the alarm and the limit.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The present end of the caller's native stack.
NOPAL_INLINE std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
#if defined(__x86_64__)
  asm("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
  asm("mov %0, sp" : "=r"(sp));
#else
  sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
  return sp;
}

/// stack_pointer() < limit, without a frame pointer. relaxed: an atomic `limit` is a hint.
template <class Word>
NOPAL_INLINE bool stack_below(Word const& limit) noexcept {
#if defined(__x86_64__)
  bool below;
  asm("cmpq %1, %%rsp" : "=@ccb"(below) : "m"(limit));
  return below;
#else
  if constexpr (requires { limit.load(std::memory_order_relaxed); }) {  // relaxed: a hint
    return stack_pointer() < limit.load(std::memory_order_relaxed);
  } else {
    return stack_pointer() < limit;
  }
#endif
}

}  // namespace nopal::core
