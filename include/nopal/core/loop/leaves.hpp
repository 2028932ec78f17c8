#pragma once

// How a range is cut into the leaves of a reduction, and what one leaf is reduced to: by the number of its elements, and by types, only.
// Called by ../../algorithm/transform_reduce.hpp. Next: fixed_tree.hpp, which joins what the leaves have come to.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Operations whose operands may change places, on numbers: the only ones for which a leaf keeps several results at once.
template <class Op, class T>
inline constexpr bool commutes =
    std::is_arithmetic_v<T> &&
    (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>> || std::is_same_v<Op, std::multiplies<>> ||
     std::is_same_v<Op, std::multiplies<T>> || std::is_same_v<Op, std::bit_and<>> || std::is_same_v<Op, std::bit_and<T>> ||
     std::is_same_v<Op, std::bit_or<>> || std::is_same_v<Op, std::bit_or<T>> || std::is_same_v<Op, std::bit_xor<>> ||
     std::is_same_v<Op, std::bit_xor<T>>);

/// Elements of a leaf, in a range of `n`. 64 leaves at least where there are so many elements, since each may take long; some thousand in a
/// long range. `cheap`: no element takes more than some nanoseconds.
constexpr std::uint64_t leaf_size(std::uint64_t n, bool cheap) noexcept {
  std::uint64_t root = 1;  // the power of two that is at most the square root of n, or half of it
  while (root * root * 4 <= n && root < (std::uint64_t{1} << 20)) root *= 2;
  constexpr std::uint64_t leaves = 64, vector_loop = 4096;
  std::uint64_t const few = root < n / leaves ? root : n / leaves;
  if (cheap) return few < vector_loop ? vector_loop : few;
  return few > 0 ? few : 1;
}

/// Reduces get(from) ... get(to - 1), at least one, from left to right.
template <class T, class Op, class Get>
T fold(std::uint64_t from, std::uint64_t to, Op& op, Get& get) {
  T sum = static_cast<T>(get(from));
  for (std::uint64_t k = from + 1; k < to; ++k) sum = std::invoke(op, std::move(sum), get(k));
  return sum;
}

/// Reduces them in 16 lanes, of which lane j has every 16th from the j-th on, and then the lanes in pairs: so the processor adds several at
/// once, whatever its vectors, and the order is always the same.
template <class T, class Op, class Get>
T fold_in_lanes(std::uint64_t from, std::uint64_t to, Op& op, Get& get) {
  constexpr std::size_t lanes = 16;
  if (to - from < 2 * lanes) return fold<T>(from, to, op, get);
  std::array<T, lanes> sums;
  for (std::size_t j = 0; j < lanes; ++j) sums[j] = static_cast<T>(get(from + j));
  std::uint64_t k = from + lanes;
  for (; k + lanes <= to; k += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) sums[j] = static_cast<T>(op(sums[j], get(k + j)));
  }
  for (std::size_t j = 0; k < to; ++k, ++j) sums[j] = static_cast<T>(op(sums[j], get(k)));
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] = static_cast<T>(op(sums[j], sums[j + half]));
  }
  return sums[0];
}

/// What one leaf comes to. A function of its own: with two copies of the code a compiler might contract one to fused operations and not the
/// other.
template <class T, class Op, class Get>
[[gnu::noinline]] T reduce_leaf(std::uint64_t from, std::uint64_t to, Op& op, Get& get) {
  // Of whole numbers every grouping comes to the same, and compilers know it.
  if constexpr (commutes<std::remove_cv_t<Op>, T> && std::is_floating_point_v<T>) {
    return fold_in_lanes<T>(from, to, op, get);
  } else {
    return fold<T>(from, to, op, get);
  }
}

}  // namespace nopal::core
