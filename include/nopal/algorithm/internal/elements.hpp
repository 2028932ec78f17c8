#pragma once

// What the algorithms know about elements: comparators with projections, values that are cheap to copy or safe to move, iterators for
// several threads, and memory without objects.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Does a come before b by the user's comparator and projection? They are not copied: threads call the user's own at once.
template <class Comp, class Proj>
struct projected_less {
  Comp& comp;
  Proj& proj;

  template <class A, class B>
  NOPAL_INLINE bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(comp, std::invoke(proj, static_cast<A&&>(a)), std::invoke(proj, static_cast<B&&>(b))));
  }
};

/// Comparators that compare numbers by the built-in operators. Those of a class that is made of a number do not.
template <class Comp>
inline constexpr bool compares_plainly = false;
template <>
inline constexpr bool compares_plainly<std::ranges::less> = true;
template <>
inline constexpr bool compares_plainly<std::ranges::greater> = true;
template <class T>
inline constexpr bool compares_plainly<std::less<T>> = std::is_void_v<T> || std::is_arithmetic_v<T> || std::is_pointer_v<T>;
template <class T>
inline constexpr bool compares_plainly<std::greater<T>> = compares_plainly<std::less<T>>;

/// Predicates that compare by the built-in operator where elements are numbers or pointers.
template <class Pred>
inline constexpr bool equals_plainly = std::is_same_v<Pred, std::ranges::equal_to> || std::is_same_v<Pred, std::equal_to<>>;

/// A value so cheap to copy that code computes both outcomes of a comparison instead of branching.
template <class T>
inline constexpr bool is_cheap = sizeof(T) <= 16 && std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T> &&
                                 std::is_nothrow_move_assignable_v<T> && std::is_copy_assignable_v<T>;

/// Makes the copy that is_cheap promises, of a constant, where there is no object or one whose destructor does not matter. For a
/// non-constant, a constructor `template <class U> T(U&&)` would be the better match.
template <class T>
NOPAL_INLINE void copy_to(T* to, const T& from) noexcept {
  std::construct_at(to, from);
}

/// Iterators whose elements are objects: threads may write different ones at once.
template <class I>
concept parallel_iterator = std::random_access_iterator<I> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;

/// An iterator to places where objects are still to be constructed.
template <class O>
concept unmade = parallel_iterator<O> && std::is_same_v<std::remove_cvref_t<std::iter_reference_t<O>>, std::iter_value_t<O>>;

/// A pointer if the elements are contiguous: vectors, arrays and spans then share one instantiation.
template <class I>
NOPAL_INLINE auto plain_iterator(I it) {
  if constexpr (std::contiguous_iterator<I>) {
    return std::to_address(it);
  } else {
    return it;
  }
}

/// it + n and it - n for an unsigned n: differences of iterators are signed.
template <class I>
NOPAL_INLINE I ahead(I it, std::size_t n) {
  return it + static_cast<std::iter_difference_t<I>>(n);
}
template <class I>
NOPAL_INLINE I behind(I it, std::size_t n) {
  return it - static_cast<std::iter_difference_t<I>>(n);
}

/// Returns the end of n elements; `first` if n is negative.
template <class I>
I counted_end(const I& first, std::iter_difference_t<I> n) {
  return n > 0 ? first + n : first;
}

// Elements that are carried to a buffer and back. In contiguous memory, for which pointers stand (plain_iterator), an element is a whole
// object: its life ends where it leaves, and begins where it arrives. Behind any other iterator it may be a part of an object, such as its
// base: there an object stays, moved from, and is assigned to when an element comes back.

/// Elements of a range that can be carried to a buffer and back without failing.
template <class I, class T = std::iter_value_t<I>>
inline constexpr bool is_relocatable = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T> &&
                                       (std::is_pointer_v<I> || std::is_nothrow_assignable_v<std::iter_reference_t<I>, T>);

/// As is_relocatable, but to come back may fail: as by the assignment of a std::pmr::string, whose memory may be another one's.
template <class I, class T = std::iter_value_t<I>>
inline constexpr bool is_borrowable = !is_relocatable<I> && std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;

/// Moves an element to another place: from a range to a buffer, or back. Of pointers, `from` has no object afterwards and `to` has none
/// before.
template <class From, class To>
NOPAL_INLINE void relocate(const From& from, const To& to) noexcept {
  using T = std::iter_value_t<From>;
  if constexpr (std::is_pointer_v<To>) {
    std::construct_at(to, static_cast<T&&>(*from));
  } else {
    *to = static_cast<T&&>(*from);
  }
  if constexpr (std::is_pointer_v<From>) std::destroy_at(from);
}
/// As relocate, but copies an element that is_cheap.
template <class To, class T>
NOPAL_INLINE void relocate_copy(const T& from, const To& to) noexcept {
  if constexpr (std::is_pointer_v<To>) {
    algorithms::copy_to(to, from);
  } else {
    T copy(from);
    *to = static_cast<T&&>(copy);
  }
}

/// Returns answer(i) for i = 0, ..., 63, one bit each; each is called once, in this order.
template <class Answer>
NOPAL_INLINE std::uint64_t answers_in_bits(const Answer& answer) {
  std::uint64_t bits = 0;
  // Eight answers, a byte each, as vectors give them; the product gathers their lowest bits.
  for (std::size_t k = 0; k < 64; k += 8) {
    std::array<bool, 8> eight;
    for (std::size_t j = 0; j < 8; ++j) eight[j] = answer(k + j);
    bits |= (std::bit_cast<std::uint64_t>(eight) * 0x0102'0408'1020'4080 >> 56) << k;
  }
  return bits;
}

/// Memory for n objects, freed by the destructor. It constructs and destroys none.
template <class T>
class raw_buffer {
 public:
  /// If there is no memory, data() is null.
  raw_buffer(std::size_t n, std::nothrow_t) noexcept : data_{allocate(n)} {
    if (data_ != nullptr && n * sizeof(T) >= worth_huge_pages) prefer_huge_pages(data_, n * sizeof(T));
  }
  /// Throws std::bad_alloc.
  explicit raw_buffer(std::size_t n) : raw_buffer{n, std::nothrow} {
    if (data_ == nullptr) throw std::bad_alloc{};
  }
  ~raw_buffer() {
    if constexpr (over_aligned) {
      ::operator delete(data_, std::align_val_t{alignof(T)});
    } else {
      ::operator delete(data_);
    }
  }
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(data_); }

 private:
  static constexpr bool over_aligned = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  static void* allocate(std::size_t n) noexcept {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) return nullptr;
    if constexpr (over_aligned) {
      return ::operator new(n * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow);
    } else {
      return ::operator new(n * sizeof(T), std::nothrow);
    }
  }

  void* data_;
};

}  // namespace nopal::core::algorithms
