#pragma once

// What a processor does with a word in one instruction where compilers take two, or have no word for it. Next: base/sync.hpp.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Tells the processor that this is a loop which waits.
NOPAL_INLINE void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Compilers take two instructions for these on a word that is atomic. A model's atomics, and ThreadSanitizer, get the plain meaning.
template <class Atomic>
inline constexpr bool is_machine_word =
#if defined(__x86_64__) && !NOPAL_TSAN
    std::is_same_v<Atomic, std::atomic<std::int64_t>>;
#else
    false;
#endif

/// a.store(before + 1, release), by the only one who writes it and has read `before` there.
template <class Atomic>
NOPAL_INLINE void store_successor(Atomic& a, std::int64_t before) noexcept {
#if defined(__x86_64__)
  // Others see the value before or after, as with a store. memory: what came before stays before, which is release here.
  if constexpr (is_machine_word<Atomic>) {
    asm volatile("incq %0" : "+m"(a) : : "memory", "cc");
    return;
  }
#endif
  a.store(before + 1, std::memory_order_release);
}

/// value >= a.load(relaxed). Like that load it stays behind a light_fence before it: to a compiler the fence may write what this reads.
template <class Atomic>
NOPAL_INLINE bool at_least(std::int64_t value, Atomic const& a) noexcept {
#if defined(__x86_64__)
  if constexpr (is_machine_word<Atomic>) {
    bool yes;
    asm("cmpq %2, %1" : "=@ccge"(yes) : "r"(value), "m"(a));
    return yes;
  }
#endif
  return value >= a.load(std::memory_order_relaxed);
}

}  // namespace nopal::core
