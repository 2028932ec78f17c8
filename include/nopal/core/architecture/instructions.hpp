#pragma once

// What a processor does in one instruction where compilers use two, or have no expression for it. Used by the deque's push and pop, and by
// every loop that waits. Next: ../base/sync.hpp.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <chrono>
#endif

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

// The stack pointer, and comparing it with a word in memory: by one instruction where the machine has one. Any thread. Next:
// ../task/fork_state.hpp and ../deque/deque.hpp, where forks compare it with the alarm and the limit.

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

// The processor's constant clock: some nanoseconds to read, where the system's takes some twenty. Its readings say roughly how long
// something took; no correctness depends on them. Next: ../loop/pace.hpp.

NOPAL_INLINE std::uint64_t clock_ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// So many ticks are about a microsecond. On x86-64 the number cannot be read; all current processors have 2000 to 4000.
inline double ticks_per_microsecond() noexcept {
#if defined(__x86_64__)
  return 2500;
#elif defined(__aarch64__)
  std::uint64_t hertz;
  asm("mrs %0, cntfrq_el0" : "=r"(hertz));
  return static_cast<double>(hertz) / 1e6;
#else
  return 1000;
#endif
}

// Shadow stacks of x86-64, which know one native stack a thread, so that a switch to another stack is a fault. No part of nopal is marked
// as made for them, so the loader leaves them off, unless the system forces them. Next: ../scheduler/scheduler.hpp, which makes no pool
// where they are on.

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
