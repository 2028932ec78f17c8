#pragma once

// The random numbers of random programs: the same everywhere, so that a seed means the same program.

#include <cstdint>

namespace test {

/// One step of splitmix64.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace test
