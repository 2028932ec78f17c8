#pragma once

// Which sorts need no comparisons: numbers in their own order, or in reverse.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class Comp, class T>
inline constexpr bool is_less =
    std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::less<>> || std::is_same_v<Comp, std::less<T>>;
template <class Comp, class T>
inline constexpr bool is_greater =
    std::is_same_v<Comp, std::ranges::greater> || std::is_same_v<Comp, std::greater<>> || std::is_same_v<Comp, std::greater<T>>;

/// Whole numbers of at most 64 bits: those that are equal are the same.
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> && sizeof(T) <= 8;
/// Floating-point numbers as IEC 60559 has them. Zeros of both signs are equal and not the same: so this order is for no stable sort.
template <class T>
inline constexpr bool is_real = (std::is_same_v<T, float> || std::is_same_v<T, double>) && std::numeric_limits<T>::is_iec559;

template <std::size_t Bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = std::uint8_t;
};
template <>
struct word_of<2> {
  using type = std::uint16_t;
};
template <>
struct word_of<4> {
  using type = std::uint32_t;
};
template <>
struct word_of<8> {
  using type = std::uint64_t;
};

/// A number as a word without sign whose order is that of the numbers: negative ones first, greater magnitudes of them first. NaNs come before
/// or after all numbers, by their sign.
template <class T, bool Reverse>
struct radix_key {
  using word = word_of<sizeof(T)>::type;

  NOPAL_INLINE word operator()(T x) const {
    constexpr auto sign = static_cast<word>(word{1} << (8 * sizeof(T) - 1));
    word w = 0;
    if constexpr (is_real<T>) {
      w = std::bit_cast<word>(x);
      w ^= (w & sign) != 0 ? std::numeric_limits<word>::max() : sign;
    } else {
      w = static_cast<word>(x);
      if constexpr (std::is_signed_v<T>) w ^= sign;
    }
    return Reverse ? static_cast<word>(~w) : w;
  }
};

/// The order of those keys.
template <class T, bool Reverse>
struct number_less {
  NOPAL_INLINE bool operator()(T a, T b) const {
    if constexpr (is_real<T>) {
      constexpr radix_key<T, Reverse> key;
      return key(a) < key(b);
    } else {
      return Reverse ? b < a : a < b;
    }
  }
};

}  // namespace nopal::core::algorithms
