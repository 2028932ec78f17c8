#pragma once

// SHA-1 of a message that fits one block, which is all that the trees need. Portable on purpose: the trees' published times are for a node
// that costs a portable SHA-1, and a machine's instruction for it would change the grain.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

using digest = std::array<std::uint8_t, 20>;

inline std::uint32_t load_big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

inline void store_big_endian(std::uint8_t* bytes, std::uint32_t word) {
  bytes[0] = static_cast<std::uint8_t>(word >> 24);
  bytes[1] = static_cast<std::uint8_t>(word >> 16);
  bytes[2] = static_cast<std::uint8_t>(word >> 8);
  bytes[3] = static_cast<std::uint8_t>(word);
}

template <std::size_t Length>
digest sha1(std::span<const std::uint8_t, Length> message) {
  static_assert(Length <= 55, "the padding has to fit the same block");
  static_assert(Length % 4 == 0, "whole words only");

  // The block: the message, one bit, zeros, and the message's length in bits.
  std::array<std::uint32_t, 16> w{};
  for (std::size_t i = 0; i < Length / 4; ++i) w[i] = load_big_endian(message.data() + 4 * i);
  w[Length / 4] = 0x80000000u;
  w[15] = static_cast<std::uint32_t>(8 * Length);

  constexpr std::array<std::uint32_t, 5> start = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  auto [a, b, c, d, e] = start;

  const auto step = [&](std::size_t round, std::uint32_t mix, std::uint32_t constant) {
    std::uint32_t& word = w[round % 16];
    if (round >= 16) word = std::rotl(w[(round + 13) % 16] ^ w[(round + 8) % 16] ^ w[(round + 2) % 16] ^ word, 1);
    const std::uint32_t next = std::rotl(a, 5) + mix + e + constant + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };

  std::size_t round = 0;
#pragma GCC unroll 20
  for (; round < 20; ++round) step(round, d ^ (b & (c ^ d)), 0x5a827999u);
#pragma GCC unroll 20
  for (; round < 40; ++round) step(round, b ^ c ^ d, 0x6ed9eba1u);
#pragma GCC unroll 20
  for (; round < 60; ++round) step(round, (b & c) | (d & (b | c)), 0x8f1bbcdcu);
#pragma GCC unroll 20
  for (; round < 80; ++round) step(round, b ^ c ^ d, 0xca62c1d6u);

  const std::array<std::uint32_t, 5> sums = {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
  digest result;
  for (std::size_t i = 0; i < sums.size(); ++i) store_big_endian(result.data() + 4 * i, sums[i]);
  return result;
}

}  // namespace bench
