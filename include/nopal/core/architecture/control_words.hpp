#pragma once

// The floating-point control words of the running thread: what rounding, flushing to zero and trapping depend on, in one word. Each strand
// has its own. Only slow paths call these. Why: ../scheduler/README.md, "Floating-point mode". Next: ../deque/continuation.hpp, which
// carries them.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// On x86-64 the control bits of mxcsr (10 bits) and of the x87 control word (10 bits); on 64-bit Arm those of fpcr (22 bits). The sticky
/// flags, which say what exceptions there were, do not belong to them.
struct control_words {
  std::uint32_t bits;  ///< undefined until set

  /// Those of the calling thread. A few nanoseconds.
  static control_words now() noexcept;
  /// Makes them those of the calling thread. Writes only what differs, since writing costs more than reading.
  void adopt() const noexcept;

  bool operator==(control_words const&) const = default;
};

#if defined(__x86_64__)

inline constexpr std::uint32_t mxcsr_control = 0xffc0;           // from bit 6 on: denormals are zero, masks, rounding, flush to zero
inline constexpr std::uint16_t x87_masks = 0x3f;                 // bits 0 to 5
inline constexpr std::uint16_t x87_control = 0xf00 | x87_masks;  // bits 8 to 11: precision, rounding

constexpr control_words control_words_of(std::uint32_t mxcsr, std::uint32_t x87) noexcept {
  return {(mxcsr & mxcsr_control) >> 6 | ((x87 & x87_masks) | (x87 >> 2 & 0x3c0)) << 10};
}

inline control_words control_words::now() noexcept {
  std::uint32_t mxcsr;
  std::uint16_t x87;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
  return control_words_of(mxcsr, x87);
}

inline void control_words::adopt() const noexcept {
  std::uint32_t const differs = bits ^ now().bits;
  if ((differs & 0x3ff) != 0) {
    std::uint32_t mxcsr;
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    mxcsr = (mxcsr & ~mxcsr_control) | (bits & 0x3ff) << 6;
    asm volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
  }
  if (differs >> 10 != 0) {
    std::uint16_t x87;
    asm volatile("fnstcw %0" : "=m"(x87));
    std::uint32_t const wanted = bits >> 10;
    x87 = static_cast<std::uint16_t>((x87 & ~x87_control) | (wanted & x87_masks) | (wanted << 2 & 0xf00));
    // fnclex first: a flag that another strand has left would trap at the next instruction if this word unmasks it.
    asm volatile("fnclex\n\tfldcw %0" : : "m"(x87) : "memory");
  }
}

#elif defined(__aarch64__)

// Bits 0 to 2 and 8 to 26 of fpcr; the others are reserved.
inline constexpr std::uint64_t fpcr_low = 7;
inline constexpr std::uint64_t fpcr_high = 0x7ffff00;

constexpr control_words control_words_of(std::uint64_t fpcr) noexcept {
  return {static_cast<std::uint32_t>((fpcr & fpcr_low) | (fpcr & fpcr_high) >> 5)};
}

inline control_words control_words::now() noexcept {
  std::uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return control_words_of(fpcr);
}

inline void control_words::adopt() const noexcept {
  std::uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  std::uint64_t const wanted = (fpcr & ~(fpcr_low | fpcr_high)) | (bits & fpcr_low) | (std::uint64_t{bits} << 5 & fpcr_high);
  if (wanted != fpcr) asm volatile("msr fpcr, %0" : : "r"(wanted) : "memory");
}

#endif

/// Control words as the processor stores them, for an object that keeps them often: a fiber that has not started. A processor may take 14
/// cycles to read mxcsr (Zen 5), and one to write it. So a known value is written without a comparison.
struct stored_control_words {
#if defined(__x86_64__)
  std::uint32_t mxcsr;  ///< with its sticky flags
  std::uint16_t x87;

  /// Stores those of the calling thread here.
  NOPAL_INLINE void store() noexcept { asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87)); }
  /// Makes them those of the calling thread, and on x86-64 the sticky flags of mxcsr too.
  NOPAL_INLINE void adopt() const noexcept {
    std::uint16_t x87_now;
    asm volatile("ldmxcsr %1\n\tfnstcw %0" : "=m"(x87_now) : "m"(mxcsr) : "memory");
    if (((x87_now ^ x87) & x87_control) != 0) [[unlikely]]
      control_words_of(mxcsr, x87).adopt();
  }
#elif defined(__aarch64__)
  std::uint64_t fpcr;

  NOPAL_INLINE void store() noexcept { asm volatile("mrs %0, fpcr" : "=r"(fpcr)); }
  NOPAL_INLINE void adopt() const noexcept {
    std::uint64_t now;
    asm volatile("mrs %0, fpcr" : "=r"(now));
    if (now != fpcr) [[unlikely]]
      control_words_of(fpcr).adopt();
  }
#endif
};

/// A number below 2^24 for each value, so that sums of such numbers are equal only if the values were. Its 24 bits are the highest of a
/// join word: ../deque/join_word.hpp.
constexpr std::uint64_t digest(control_words c) noexcept {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 24) - 1;
  std::uint64_t x = c.bits & mask;  // each step is a permutation of the 24-bit numbers
  x = x * 0x9e3779b1 & mask;
  x ^= x >> 11;
  x = x * 0x85ebca77 & mask;
  return x ^ x >> 13;
}

}  // namespace nopal::core
