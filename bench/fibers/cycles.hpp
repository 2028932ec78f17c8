#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace bench {

// Ticks of the processor's clock, which has a constant rate: at its nominal frequency they are cycles.
inline std::uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "bench: which register counts the cycles here?"
#endif
}

}  // namespace bench
