#pragma once

// The tape: the bytes that a program is made of. A generator of random numbers writes it, or a fuzzer; a tape cut short is a tape too.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../mix.hpp"

namespace soak {

using tape = std::vector<std::uint8_t>;

inline tape random_tape(std::uint64_t seed, std::size_t bytes) {
  tape t(bytes);
  for (std::size_t k = 0; k < bytes; ++k) t[k] = static_cast<std::uint8_t>(test::mix(seed + k / 8) >> (k % 8 * 8));
  return t;
}

inline std::string hex(tape const& t) {
  std::string s;
  for (std::uint8_t const b : t) {
    s += "0123456789abcdef"[b >> 4];
    s += "0123456789abcdef"[b & 15];
  }
  return s;
}

inline std::optional<tape> from_hex(std::string_view s) {
  tape t;
  unsigned byte = 1;
  for (char const c : s) {
    std::size_t const digit = std::string_view{"0123456789abcdef"}.find(c);
    if (digit == std::string_view::npos) return {};
    byte = byte * 16 + static_cast<unsigned>(digit);
    if (byte < 256) continue;
    t.push_back(static_cast<std::uint8_t>(byte));
    byte = 1;
  }
  if (byte != 1) return {};
  return t;
}

/// Reads a tape; after its end there are zeros, any number of them.
class reader {
 public:
  reader(std::uint8_t const* data, std::size_t size) noexcept : at_{data}, left_{size} {}

  bool empty() const noexcept { return left_ == 0; }
  unsigned next() noexcept {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }

 private:
  std::uint8_t const* at_;
  std::size_t left_;
};

}  // namespace soak
