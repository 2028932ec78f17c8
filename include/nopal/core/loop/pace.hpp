#pragma once

// The number of iterations in one block of a loop: as many as take some microseconds, or a small part of the whole if that is more. Called
// by loop.cpp. Why neither alone: README.md, "Blocks". Next: loop.hpp.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// `n` iterations, rounded down to what a block may have, but at least one. A multiple of 64 leaves no rest that vector loops must run one
/// by one. `grain`: at least 1.
constexpr std::uint64_t to_grain(std::uint64_t n, std::uint64_t grain) noexcept {
  if (grain != 1) return n >= grain ? n / grain * grain : grain;
  if (n >= 64) return n & ~std::uint64_t{63};
  return n > 0 ? n : 1;
}

/// What an iteration has cost in earlier runs of the same loop: one for each type of body, so that short loops need not measure anew. Any
/// number of threads. A guess: a loop for which it is wrong corrects it after its first block.
class iteration_cost {
 public:
  /// In ticks; 0: not known.
  float ticks() const noexcept { return ticks_.load(std::memory_order_relaxed); }  // relaxed: a hint
  /// Written only if it is wrong by a quarter, so that loops on all workers share the line.
  void learn(double measured) noexcept {
    double const known = ticks();
    if (measured < known * 0.75 || measured > known * 1.25) {
      ticks_.store(static_cast<float>(measured), std::memory_order_relaxed);  // relaxed: a hint
    }
  }
  /// So many iterations have taken so many ticks.
  NOPAL_COLD void learn(std::uint64_t ticks, std::uint64_t n) noexcept { learn(static_cast<double>(ticks) / static_cast<double>(n)); }

 private:
  std::atomic<float> ticks_{0};
};

}  // namespace nopal::core
