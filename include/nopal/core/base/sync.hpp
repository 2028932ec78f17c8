#pragma once

// What the protocols (deque, join word, inbox, parking, the words that are waited for) ask of the machine, in one place, so that a
// model checker can put its own in and run the very source that ships.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Makes every thread of this process pass a full fence before it returns: the thief's half of an asymmetric pair whose
/// other half is a mere compiler barrier. About 20 µs when the others run, 0.2 µs when they sleep.
NOPAL_API NOPAL_COLD void heavy_fence() noexcept;

/// Asks the kernel for heavy_fence, once per process. False where it has none: the deque then hides nothing from thieves.
bool heavy_fence_available() noexcept;

NOPAL_INLINE void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// What the fork path does with a word of the machine in one instruction, where compilers take two for one that is atomic. A model's
// atomics, and ThreadSanitizer, get the plain meaning.

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

/// The real machine.
struct NOPAL_API std_sync {
  template <class T>
  using atomic = std::atomic<T>;
  /// What only one thread uses at a time, because the atomics around it say so.
  template <class T>
  using plain = T;

  /// A full fence; each use names its partner.
  static void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  /// The owner's half of the asymmetric pair: stops the compiler, not the processor.
  NOPAL_INLINE static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void heavy_fence() noexcept { core::heavy_fence(); }
  static void relax() noexcept { cpu_relax(); }
  /// A thief that has asked looks so often before it asks again, and rests so long before each look.
  static constexpr int looks = 8;
  static constexpr int rests = 4;
  /// A clock in nanoseconds, for patience only.
  static std::int64_t now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  /// Sleeps until woken, if `a` still holds `expected`. May return for no reason.
  static void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept;
  /// The same, for at most so long.
  static void wait_for(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
  /// Wakes one sleeper on `a`, or all. They use its address only: it may be gone.
  static void wake(std::atomic<std::uint32_t>& a) noexcept;
  static void wake_all(std::atomic<std::uint32_t>& a) noexcept;
  /// Lets another thread run: whoever waits for a lock may be on the CPU of whoever holds it.
  static void yield() noexcept;
};

}  // namespace nopal::core
