#pragma once

// Sorts numbers in ascending or descending order by digits of eight bits, with a buffer for as many beside them. Parts too large for the
// second-level cache are distributed by the highest digit in which they differ; smaller ones are sorted from the lowest digit up; the
// smallest, and those that differ in many digits, by comparisons. Stable. It never fails once it has its buffer.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class Comp, class T>
inline constexpr bool is_less =
    std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::less<>> || std::is_same_v<Comp, std::less<T>>;
template <class Comp, class T>
inline constexpr bool is_greater =
    std::is_same_v<Comp, std::ranges::greater> || std::is_same_v<Comp, std::greater<>> || std::is_same_v<Comp, std::greater<T>>;

/// Whole numbers of at most 64 bits: equal ones are the same.
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> && sizeof(T) <= 8;
/// Floating-point numbers of IEC 60559. Zeros of both signs are equal but not the same: not for stable sorts.
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

/// A number as an unsigned word with the same order: negative numbers first, those of greater magnitude before others. NaNs come before or
/// after all numbers, by their sign.
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

/// The order of these keys.
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

/// From so many numbers on a sort by digits is worth its tables and its buffer.
inline constexpr std::size_t least_radix_sort = 256;
/// From so many on several threads distribute, each a part of at least a quarter of that; at most most_radix_parts of them.
inline constexpr std::size_t parallel_radix = std::size_t{1} << 16;
inline constexpr std::size_t most_radix_parts = 64;
/// Twice so many bytes fit into a second-level cache.
inline constexpr std::size_t radix_in_cache = std::size_t{1} << 18;
inline constexpr unsigned digit_bits = 8;
inline constexpr std::size_t digits = std::size_t{1} << digit_bits;

template <class T, bool Reverse>
struct radix_sort {
  using word = radix_key<T, Reverse>::word;
  using counts = std::array<std::size_t, digits>;

  radix_key<T, Reverse> key;

  /// Sorts the n numbers at `from`; the result is there, or at `to`. Called by a worker.
  void sort(T* from, T* to, std::size_t n, bool ends_there) const {
    if (n <= small_size<T>) return by_comparisons(from, to, n, ends_there);
    const word differ = differing_bits(from, n);
    if (differ == 0) {
      if (ends_there) std::copy_n(from, n, to);
      return;
    }
    const unsigned passes = digits_in(differ);
    // In nanoseconds: a pass takes 1.2 for each number and 300 for its table, a comparison 1.5, since half of the jumps behind one are unforeseen.
    const auto levels = static_cast<std::size_t>(std::bit_width(n));
    if (passes * (n + n / 4 + 300) > n * levels * 3 / 2) return by_comparisons(from, to, n, ends_there);
    if (n * sizeof(T) <= radix_in_cache || (passes == 1 && n < parallel_radix)) return from_lowest(from, to, n, ends_there, differ);
    deal_out(from, to, n, ends_there, differ);
  }

 private:
  NOPAL_INLINE static std::size_t digit(word w, unsigned shift) { return (w >> shift) % digits; }

  [[nodiscard]] word differing_bits(const T* from, std::size_t n) const {
    const word first = key(from[0]);
    const auto of = [&](std::size_t begin, std::size_t end) {
      word differ = 0;
      for (std::size_t i = begin; i < end; ++i) differ |= static_cast<word>(key(from[i]) ^ first);
      return differ;
    };
    if (n < parallel_radix) return of(0, n);
    std::array<word, most_radix_parts> results;
    const std::size_t count = parts(n);
    each_part(0, count, [&](std::size_t part) { results[part] = of(n / count * part, part + 1 == count ? n : n / count * (part + 1)); });
    word differ = 0;
    for (std::size_t part = 0; part < count; ++part) differ |= results[part];
    return differ;
  }
  static unsigned digits_in(word differ) {
    unsigned passes = 0;
    for (; differ != 0; differ = static_cast<word>(sizeof(word) == 1 ? 0 : differ >> (digit_bits % (8 * sizeof(word))))) {
      passes += differ % digits != 0 ? 1 : 0;
    }
    return passes;
  }
  static std::size_t parts(std::size_t n) { return std::clamp<std::size_t>(n / (parallel_radix / 4), 2, most_radix_parts); }

  void by_comparisons(T* from, T* to, std::size_t n, bool ends_there) const {
    constexpr number_less<T, Reverse> less;
    quick_sort<T*, number_less<T, Reverse>>{less}.sort(from, n);
    if (ends_there) std::copy_n(from, n, to);
  }

  /// Turns the number of keys of each digit into the places where they begin.
  static void begins(counts& of) {
    std::size_t sum = 0;
    for (std::size_t& count : of) {
      const std::size_t begin = sum;
      sum += count;
      count = begin;
    }
  }
  void count(const T* from, std::size_t n, unsigned shift, counts& of) const {
    of.fill(0);
    for (std::size_t i = 0; i < n; ++i) ++of[digit(key(from[i]), shift)];
  }
  void move(const T* from, T* to, std::size_t n, unsigned shift, counts& next) const {
    for (std::size_t i = 0; i < n; ++i) to[next[digit(key(from[i]), shift)]++] = from[i];
  }

  void from_lowest(T* from, T* to, std::size_t n, bool ends_there, word differ) const {
    bool there = false;
    counts of;
    for (unsigned shift = 0; shift < 8 * sizeof(word); shift += digit_bits) {
      if (digit(differ, shift) == 0) continue;
      count(from, n, shift, of);
      begins(of);
      move(from, to, n, shift, of);
      std::swap(from, to);
      there = !there;
    }
    if (there != ends_there) std::copy_n(from, n, to);
  }

  void deal_out(T* from, T* to, std::size_t n, bool ends_there, word differ) const {
    const auto width = static_cast<unsigned>(std::bit_width(differ));
    const unsigned shift = width > digit_bits ? width - digit_bits : 0;
    counts ends;
    if (n < parallel_radix) {
      count(from, n, shift, ends);
      begins(ends);
      move(from, to, n, shift, ends);
    } else {
      deal_out_in_parts(from, to, n, shift, ends);
    }
    each_part(0, digits, [&](std::size_t d) {
      const std::size_t begin = d == 0 ? 0 : ends[d - 1];
      if (begin != ends[d]) sort(to + begin, from + begin, ends[d] - begin, !ends_there);
    });
  }

  /// Each part counts its digits; then each knows where its own go.
  void deal_out_in_parts(T* from, T* to, std::size_t n, unsigned shift, counts& ends) const {
    const std::size_t total = parts(n);
    const std::size_t size = n / total;
    const auto size_of = [&](std::size_t part) { return part + 1 == total ? n - size * part : size; };
    const raw_buffer<counts> room{total, std::nothrow};
    if (room.data() == nullptr) {  // 128 KiB
      count(from, n, shift, ends);
      begins(ends);
      return move(from, to, n, shift, ends);
    }
    counts* const of = std::uninitialized_default_construct_n(room.data(), total) - static_cast<std::ptrdiff_t>(total);
    each_part(0, total, [&](std::size_t part) { count(from + size * part, size_of(part), shift, of[part]); });
    std::size_t sum = 0;
    for (std::size_t d = 0; d < digits; ++d) {
      for (std::size_t part = 0; part < total; ++part) {
        const std::size_t begin = sum;
        sum += of[part][d];
        of[part][d] = begin;
      }
      ends[d] = sum;
    }
    each_part(0, total, [&](std::size_t part) { move(from + size * part, to, size_of(part), shift, of[part]); });
  }
};

}  // namespace nopal::core::algorithms
