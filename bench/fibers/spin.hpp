#pragma once

// Work that takes no memory and that no compiler shortens: a linear congruential generator, one step an iteration. Its result is known in
// O(log iterations).

#include <cstddef>
#include <cstdint>

namespace bench {

inline constexpr std::uint64_t spin_factor = 6364136223846793005;
inline constexpr std::uint64_t spin_summand = 1442695040888963407;

inline std::uint64_t spin(std::uint64_t state, std::size_t iterations) {
  for (std::size_t i = 0; i < iterations; ++i) {
    state = state * spin_factor + spin_summand;
    asm volatile("" : "+r"(state));  // each step by itself
  }
  return state;
}

// What spin() must return: by squaring the step.
constexpr std::uint64_t spun(std::uint64_t state, std::size_t iterations) {
  std::uint64_t factor = spin_factor;
  std::uint64_t summand = spin_summand;
  for (; iterations > 0; iterations /= 2) {
    if (iterations % 2 == 1) state = state * factor + summand;
    summand *= factor + 1;
    factor *= factor;
  }
  return state;
}

}  // namespace bench
