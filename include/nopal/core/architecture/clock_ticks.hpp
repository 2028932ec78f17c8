#pragma once

// The processor's constant clock: some nanoseconds to read, where the system's takes some twenty. Its readings say roughly how long
// something took; no correctness depends on them. Next: ../loop/pace.hpp.

#include <cstdint>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <chrono>
#endif

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core
