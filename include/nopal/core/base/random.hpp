#pragma once

// The random numbers of a worker: which victim it tries next, and how long it backs off. Fast and well mixed, not secret. Next:
// ../machine/victim.hpp.

#include <cstdint>
#include <limits>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// SplitMix64: eight bytes of state, any seed is good. A standard uniform random bit generator. Not shared between threads.
class rng {
 public:
  using result_type = std::uint64_t;

  /// Equal seeds and streams give equal numbers. Give each worker its own stream: streams start at unrelated points of one cycle of 2^64.
  explicit constexpr rng(std::uint64_t seed, std::uint64_t stream = 0) noexcept : state_(mix(mix(seed) + stream)) {}

  constexpr std::uint64_t operator()() noexcept { return mix(state_ += 0x9e3779b97f4a7c15); }

  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  /// A bijection that spreads each bit over all others (Stafford's variant 13).
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
};

}  // namespace nopal::core
