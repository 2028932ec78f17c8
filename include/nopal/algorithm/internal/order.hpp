#pragma once

// What the sorts know of a comparator, a projection and a value.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Does a come before b, by the comparator and projection that the user gave? They stay the user's: threads call them at once.
template <class Comp, class Proj>
struct projected_less {
  Comp& comp;
  Proj& proj;

  template <class A, class B>
  NOPAL_INLINE bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(comp, std::invoke(proj, static_cast<A&&>(a)), std::invoke(proj, static_cast<B&&>(b))));
  }
};

/// Comparators that take no longer than numbers do.
template <class Comp>
inline constexpr bool compares_plainly = false;
template <>
inline constexpr bool compares_plainly<std::ranges::less> = true;
template <>
inline constexpr bool compares_plainly<std::ranges::greater> = true;
template <class T>
inline constexpr bool compares_plainly<std::less<T>> = true;
template <class T>
inline constexpr bool compares_plainly<std::greater<T>> = true;

/// Predicates that say by the language's own operator what is equal, where elements are numbers or pointers.
template <class Pred>
inline constexpr bool equals_plainly = std::is_same_v<Pred, std::ranges::equal_to> || std::is_same_v<Pred, std::equal_to<>>;

/// A value whose copies cost so little that both outcomes of a comparison are worked out and no branch depends on it.
template <class T>
inline constexpr bool is_cheap = sizeof(T) <= 16 && std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T> &&
                                 std::is_nothrow_move_assignable_v<T> && std::is_copy_assignable_v<T>;

/// Makes the copy that is_cheap asks for, of a constant, where no object is or one whose end does not matter. A constructor for anything, a
/// `template <class U> T(U&&)`, would be the better match for what is not constant.
template <class T>
NOPAL_INLINE void copy_to(T* to, const T& from) noexcept {
  std::construct_at(to, from);
}

/// A value that can be carried to other memory and back without failing.
template <class T>
inline constexpr bool is_relocatable = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;

/// Iterators whose elements are objects: threads may write two of them at once.
template <class I>
concept parallel_iterator = std::random_access_iterator<I> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;

/// A pointer where the elements lie in a row: one instantiation then serves vectors, arrays and spans.
template <class I>
NOPAL_INLINE auto plain_iterator(I it) {
  if constexpr (std::contiguous_iterator<I>) {
    return std::to_address(it);
  } else {
    return it;
  }
}

/// Sizes have no sign, differences of iterators have one.
template <class I>
NOPAL_INLINE I ahead(I it, std::size_t n) {
  return it + static_cast<std::iter_difference_t<I>>(n);
}
template <class I>
NOPAL_INLINE I behind(I it, std::size_t n) {
  return it - static_cast<std::iter_difference_t<I>>(n);
}

/// The end of n elements, of none if n is negative.
template <class I>
I counted_end(const I& first, std::iter_difference_t<I> n) {
  return n > 0 ? first + n : first;
}

/// Carries an object from one place to another, where none is.
template <class T>
NOPAL_INLINE void relocate(T* from, T* to) noexcept {
  std::construct_at(to, static_cast<T&&>(*from));
  std::destroy_at(from);
}

/// answer(i) for i = 0, ..., 63, each asked once and in this order, in a bit each.
template <class Answer>
NOPAL_INLINE std::uint64_t answers_in_bits(const Answer& answer) {
  std::uint64_t bits = 0;
  // Eight answers in a byte each, as vectors give them; the product brings their lowest bits together.
  for (std::size_t k = 0; k < 64; k += 8) {
    std::array<bool, 8> eight;
    for (std::size_t j = 0; j < 8; ++j) eight[j] = answer(k + j);
    bits |= (std::bit_cast<std::uint64_t>(eight) * 0x0102'0408'1020'4080 >> 56) << k;
  }
  return bits;
}

}  // namespace nopal::core::algorithms
