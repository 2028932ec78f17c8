#pragma once

// The floating-point modes that the tests use, and how to see which one holds.

#include <cfenv>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "nopal/core/architecture/control_words.hpp"

namespace test {

/// The processor's results of a few operations, independent of the control words.
struct results {
  bool up, down, up_long, toward_zero, flushes, short_long;

  static results now() {
    double volatile const one = 1, tiny = 0x1p-60, least = 0x1p-1022;
    long double volatile const long_one = 1, long_tiny = 0x1p-100L, below_double = 0x1p-60L;
    double volatile const above = one + tiny, below = one - tiny, minus = -one - tiny, half = least / 2;
    long double volatile const long_above = long_one + long_tiny, fits = long_one + below_double;
    return {above > one, below < one && minus<-one, long_above> long_one, below < one && minus == -one, half == 0, fits == long_one};
  }
  bool operator==(results const&) const = default;
};

struct expected_mode {
  char const* name;
  void (*set)();
  results gives{};
  nopal::core::control_words words{};

  bool holds() const { return words == nopal::core::control_words::now() && gives == results::now(); }
};

#if defined(__x86_64__)
/// Only the x87 unit: doubles of 53 bits, as other systems have it.
inline void set_short_long_double() {
  unsigned short word;
  asm volatile("fnstcw %0" : "=m"(word));
  word = static_cast<unsigned short>((word & ~0x300) | 0x200);
  asm volatile("fldcw %0" : : "m"(word));
}
inline void flush_to_zero() { _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); }
#elif defined(__aarch64__)
inline void flush_to_zero() {
  unsigned long word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  asm volatile("msr fpcr, %0" : : "r"(word | 1ul << 24));
}
#endif

/// The first is the usual one. Each `set` begins with the usual mode, so that it may be called in any.
inline std::vector<expected_mode> const& modes() {
  static std::vector<expected_mode> const all = [] {
    std::vector<expected_mode> of{
        {"usual", [] { std::fesetenv(FE_DFL_ENV); }},
        {"up", [] { std::fesetenv(FE_DFL_ENV), std::fesetround(FE_UPWARD); }},
        {"down", [] { std::fesetenv(FE_DFL_ENV), std::fesetround(FE_DOWNWARD); }},
        {"toward zero", [] { std::fesetenv(FE_DFL_ENV), std::fesetround(FE_TOWARDZERO); }},
        {"flush to zero", [] { std::fesetenv(FE_DFL_ENV), flush_to_zero(); }},
#if defined(__x86_64__)
        {"short long double", [] { std::fesetenv(FE_DFL_ENV), set_short_long_double(); }},
        {"traps", [] { std::fesetenv(FE_DFL_ENV), feenableexcept(FE_DIVBYZERO | FE_INVALID); }},
#endif
    };
    std::fenv_t before;
    std::fegetenv(&before);
    for (expected_mode& m : of) {
      m.set();
      m.words = nopal::core::control_words::now();
      m.gives = results::now();
    }
    std::fesetenv(&before);
    return of;
  }();
  return all;
}

}  // namespace test
