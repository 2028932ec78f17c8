#pragma once

// The limits of a loop, [first, last), of any integer type, and its iterations counted from 0 as the engine counts them. Next: loop.hpp,
// the engine; ../../algorithm/parallel_for.hpp, which has limits of its callers.

#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class I>
concept loop_index = std::is_integral_v<I> && !std::is_same_v<std::remove_cv_t<I>, bool> && sizeof(I) <= sizeof(std::uint64_t);

/// The type in which a loop from an A to a B counts. Of `0, n` the type of n: a literal should not narrow it.
template <class A, class B>
using index_of = std::conditional_t<std::is_same_v<A, B>, A, std::common_type_t<A, B>>;

/// Throws std::invalid_argument: `first` is negative, and the index type is unsigned.
NOPAL_API [[noreturn]] NOPAL_COLD void reject_negative(std::int64_t first, unsigned bits);

template <loop_index I>
struct limits {
  I first;
  std::uint64_t count;

  /// The value of iteration k, and for k == count the one past the last. Every value between two limits can be counted by an unsigned
  /// number, so the whole range of a type is no special case.
  NOPAL_INLINE I at(std::uint64_t k) const noexcept {
    using bits = std::make_unsigned_t<I>;
    return static_cast<I>(static_cast<bits>(static_cast<bits>(first) + static_cast<bits>(k)));
  }
};

/// The limits of [first, last); none if last is not above first. Throws std::invalid_argument if the two types have no common one that
/// holds `first`: a negative number, and an unsigned type.
template <loop_index A, loop_index B>
constexpr limits<index_of<A, B>> limits_of(A first, B last) {
  using index = index_of<A, B>;
  using bits = std::make_unsigned_t<index>;
  constexpr bool mixed = std::is_signed_v<A> != std::is_signed_v<B>;
  if constexpr (mixed && std::is_signed_v<B>) {
    if (last < 0) return {static_cast<index>(first), 0};
  }
  if constexpr (mixed && std::is_signed_v<A> && std::is_unsigned_v<index>) {
    if (first < 0) reject_negative(first, sizeof(index) * 8);
  }
  auto const from = static_cast<index>(first);
  auto const to = static_cast<index>(last);
  return {from, to <= from ? std::uint64_t{0} : std::uint64_t{static_cast<bits>(static_cast<bits>(to) - static_cast<bits>(from))}};
}

}  // namespace nopal::core
