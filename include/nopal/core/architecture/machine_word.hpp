#pragma once

// What a processor does in one instruction where compilers use two, or have no expression for it. Used by the deque's push and pop, and by
// every loop that waits. Next: ../base/sync.hpp.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Tells the processor that a loop waits here: it saves power, or serves the core's other thread.
NOPAL_INLINE void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// True if the two functions below take one instruction for this atomic, where compilers use two. A model's atomics, and ThreadSanitizer,
/// get the plain C++, which is what the models check.
template <class Atomic>
inline constexpr bool is_machine_word =
#if defined(__x86_64__) && !NOPAL_TSAN
    std::is_same_v<Atomic, std::atomic<std::int64_t>>;
#else
    false;
#endif

/// a.store(before + 1, release), by the only thread that writes `a`, which has read `before` there. The caller names the release's partner.
template <class Atomic>
NOPAL_INLINE void store_successor(Atomic& a, std::int64_t before) noexcept {
#if defined(__x86_64__)
  // Other threads see the value before or the value after, as with a store. The memory clobber keeps earlier accesses before it, which is
  // all that release wants on this processor.
  if constexpr (is_machine_word<Atomic>) {
    asm volatile("incq %0" : "+m"(a) : : "memory", "cc");
    return;
  }
#endif
  a.store(before + 1, std::memory_order_release);
}

/// value >= a.load(relaxed). It stays behind a light_fence before it, as that load would: to a compiler the fence may write what this
/// reads.
template <class Atomic>
NOPAL_INLINE bool at_least(std::int64_t value, Atomic const& a) noexcept {
#if defined(__x86_64__)
  if constexpr (is_machine_word<Atomic>) {
    bool yes;
    asm("cmpq %2, %1" : "=@ccge"(yes) : "r"(value), "m"(a));
    return yes;
  }
#endif
  return value >= a.load(std::memory_order_relaxed);  // relaxed: the caller's light_fence orders it
}

}  // namespace nopal::core
