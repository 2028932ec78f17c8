#pragma once

// What the protocols (deque, join word, inbox, parking, the words of waits) ask of the machine, in one place. Each is a template over it,
// so that a model checker can put its own in and run the very source that ships: tests/model/explorer.hpp. Any thread. Next:
// ../deque/deque.hpp, the first protocol on the path.

#include <atomic>
#include <cstdint>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Makes every thread of this process pass a full fence before it returns: the thief's half of an asymmetric pair, whose other half,
/// std_sync::light_fence, is a mere compiler barrier. About 20 µs when the others run, 0.2 µs when they sleep. Only if it is available.
NOPAL_API NOPAL_COLD void heavy_fence() noexcept;

/// Registers this process with the kernel for heavy_fence. Once registered, a further call costs one system call. False if the kernel has
/// none: the deque then hides nothing from thieves.
bool heavy_fence_available() noexcept;

/// Sleeps and wakes in the machine's time, also on a simulated thread. `nanoseconds` below 0: for ever. Otherwise as std_sync's wait and
/// wake.
void sleep_on(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
void wake_up(std::atomic<std::uint32_t>& a, int threads) noexcept;

/// The real machine; or, on a thread of a simulated pool, virtual_time.hpp.
struct NOPAL_API std_sync {
  template <class T>
  using atomic = std::atomic<T>;
  /// Plain data that only one thread uses at a time, since the atomics around it order that. A model checks that.
  template <class T>
  using plain = T;

  /// A full fence. Each use names its partner.
  static void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  /// The owner's half of the asymmetric pair: stops the compiler, not the processor. Pairs with heavy_fence.
  NOPAL_INLINE static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  /// The thief's half. Pairs with light_fence.
  static void heavy_fence() noexcept { core::heavy_fence(); }
  /// In a loop that waits for another thread.
  static void relax() noexcept;
  /// See tuning.hpp; a model has its own.
  static constexpr int request_polls = tuning::request_polls;
  static constexpr int request_pauses = tuning::request_pauses;
  /// A clock in nanoseconds. Protocols use it for their patience only, never to decide what is right.
  static std::int64_t now() noexcept;
  /// Sleeps until woken, if `a` still holds `expected`. May return for no reason. Orders nothing: the caller reads `a` again.
  static void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept;
  /// As wait, for at most so long.
  static void wait_for(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
  /// Wakes one sleeper on `a`, or all. They use the address of `a` only: the object may be gone.
  static void wake(std::atomic<std::uint32_t>& a) noexcept;
  static void wake_all(std::atomic<std::uint32_t>& a) noexcept;
  /// Lets another thread run: the holder of a lock may need the CPU of the thread that waits for it.
  static void yield() noexcept;
  /// Lets the thread run that the caller waits for, which may have lost its CPU to the caller. `round`: how often the caller has done so
  /// before. Yields first, and then sleeps, longer each time: a yield does not help if the kernel prefers the caller, as a real-time
  /// thread, which gets its CPU back at once.
  static void give_way(int round) noexcept;
  /// Sleeps for so many nanoseconds.
  static void sleep(std::int64_t nanoseconds) noexcept;
};

}  // namespace nopal::core
