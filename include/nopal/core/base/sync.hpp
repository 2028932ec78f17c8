#pragma once

// What the protocols (deque, join word, inbox, parking, the words that are waited for) ask of the machine, in one place, so that a
// model checker can put its own in and run the very source that ships.

#include <atomic>
#include <cstdint>

#include "nopal/core/architecture/machine_word.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Makes every thread of this process pass a full fence before it returns: the thief's half of an asymmetric pair whose
/// other half is a mere compiler barrier. About 20 µs when the others run, 0.2 µs when they sleep.
NOPAL_API NOPAL_COLD void heavy_fence() noexcept;

/// Asks the kernel for heavy_fence, once per process. False where it has none: the deque then hides nothing from thieves.
bool heavy_fence_available() noexcept;

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
  /// See tuning.hpp; a model has its own.
  static constexpr int request_looks = tuning::request_looks;
  static constexpr int request_pauses = tuning::request_pauses;
  /// A clock in nanoseconds, for patience only.
  static std::int64_t now() noexcept;
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
