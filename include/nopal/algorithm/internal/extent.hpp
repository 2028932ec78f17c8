#pragma once

// The length of a range: known at once, found by walking to the end, or endless.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The end of an endless range whose elements may all be looked at, as those of std::views::iota(0). A std::unreachable_sentinel does not
/// say that: its caller may only know that the search finds something before memory ends.
struct endless {
  template <std::weakly_incrementable I>
  friend constexpr bool operator==(endless, const I&) noexcept {
    return false;
  }
};

template <class S>
inline constexpr bool never_reached = std::same_as<S, std::unreachable_sentinel_t> || std::same_as<S, endless>;
template <class S>
inline constexpr bool never_reached<std::move_sentinel<S>> = never_reached<S>;

/// Is a range endless? Judged by its sentinel, or by that of the range that a view passes on.
template <class R>
inline constexpr bool has_no_end = never_reached<std::ranges::sentinel_t<R>>;
template <class V, class F>
inline constexpr bool has_no_end<std::ranges::transform_view<V, F>> = has_no_end<V>;
template <class V, std::size_t N>
inline constexpr bool has_no_end<std::ranges::elements_view<V, N>> = has_no_end<V>;
template <class V>
inline constexpr bool has_no_end<std::ranges::drop_view<V>> = has_no_end<V>;

/// An iterator of std::views::iota over whole numbers.
template <class I>
concept counts_itself =
    std::integral<std::iter_value_t<I>> && std::same_as<I, std::ranges::iterator_t<std::ranges::iota_view<std::iter_value_t<I>>>>;
/// An iterator that makes something of what another one at the same place is at.
template <class I>
inline constexpr bool makes_of_base = requires(const I& it) {
  { it.base() } -> std::random_access_iterator;
};
template <class I>
inline constexpr bool makes_of_base<std::counted_iterator<I>> = false;  // has an end
template <class I>
inline constexpr bool makes_of_base<std::reverse_iterator<I>> = false;  // goes the other way

template <class I>
inline constexpr bool counts = false;
template <class I>
  requires(makes_of_base<I>)
inline constexpr bool counts<I> = counts<std::remove_cvref_t<decltype(std::declval<const I&>().base())>>;
template <counts_itself I>
inline constexpr bool counts<I> = true;

/// Returns how many elements an endless range has ahead of `it`: up to the last number of its type, if it counts without wrapping.
template <class I>
constexpr std::size_t left_ahead(const I& it) {
  constexpr std::size_t enough = std::numeric_limits<std::size_t>::max() / 4;
  if constexpr (counts_itself<I>) {
    using number = std::iter_value_t<I>;
    if constexpr (std::is_unsigned_v<number>) {
      return enough;
    } else {
      return std::min(static_cast<std::size_t>(std::numeric_limits<number>::max()) - static_cast<std::size_t>(*it), enough) + 1;
    }
  } else if constexpr (counts<I>) {
    return algorithms::left_ahead(it.base());
  } else {
    return enough;
  }
}

/// May all elements of an endless range be looked at? A pair of an iterator and a std::unreachable_sentinel does not say so, nor does a
/// subrange of them, unless they count.
template <class R>
inline constexpr bool is_endless = true;
template <class I, class S, std::ranges::subrange_kind K>
inline constexpr bool is_endless<std::ranges::subrange<I, S, K>> = false;
template <class W, class B>
inline constexpr bool is_endless<std::ranges::iota_view<W, B>> = std::integral<W>;
template <class V, class F>
inline constexpr bool is_endless<std::ranges::transform_view<V, F>> = is_endless<V>;
template <class V, std::size_t N>
inline constexpr bool is_endless<std::ranges::elements_view<V, N>> = is_endless<V>;
template <class V>
inline constexpr bool is_endless<std::ranges::drop_view<V>> = is_endless<V>;
template <class V>
inline constexpr bool is_endless<std::ranges::ref_view<V>> = is_endless<std::remove_cv_t<V>>;
template <class V>
inline constexpr bool is_endless<std::ranges::owning_view<V>> = is_endless<V>;

/// A `take` of an endless range: it is not sized, but knows its length.
template <class R>
inline constexpr bool takes_some = false;
template <class V>
inline constexpr bool takes_some<std::ranges::take_view<V>> = has_no_end<V> && std::ranges::random_access_range<V>;

template <class R>
struct known_length {
  static constexpr bool value = std::ranges::sized_range<R>;
  static auto of(R& range) { return std::ranges::size(range); }
};
template <class R>
  requires(takes_some<std::remove_cv_t<R>> && requires(R& range) { std::ranges::begin(range).count(); })
struct known_length<R> {
  static constexpr bool value = true;
  static auto of(R& range) { return std::ranges::begin(range).count(); }
};
template <class R>
struct views_whole {};
template <class V, class F>
struct views_whole<std::ranges::transform_view<V, F>> {
  using type = V;
};
template <class V, std::size_t N>
struct views_whole<std::ranges::elements_view<V, N>> {
  using type = V;
};
template <class R>
  requires(!std::ranges::sized_range<R> && requires { typename views_whole<std::remove_cv_t<R>>::type; } &&
           std::copy_constructible<typename views_whole<std::remove_cv_t<R>>::type>)
struct known_length<R> {
  using base = typename views_whole<std::remove_cv_t<R>>::type;
  static constexpr bool value = known_length<base>::value;
  static auto of(R& range) {
    base of_base = range.base();
    return known_length<base>::of(of_base);
  }
};

/// Returns the end of a range as the algorithms take it: an iterator, if that needs no walk.
template <class R>
auto end_of(R& range) {
  using plain = std::remove_cv_t<R>;
  if constexpr (has_no_end<plain>) {
    return std::conditional_t<is_endless<plain>, endless, std::unreachable_sentinel_t>{};
  } else if constexpr (!std::sized_sentinel_for<std::ranges::sentinel_t<R>, std::ranges::iterator_t<R>> && known_length<R>::value) {
    return std::ranges::begin(range) + static_cast<std::ranges::range_difference_t<R>>(known_length<R>::of(range));
  } else {
    return std::ranges::end(range);
  }
}

/// Is a T the end of the array R, so that both are a pair of pointers?
template <class T, class R>
concept ends_array = std::is_array_v<std::remove_reference_t<R>> && std::sentinel_for<T, std::decay_t<R>>;

/// Is a sentinel only a guard of what a counted iterator counts, and never reached?
template <class I, class S>
inline constexpr bool ends_by_count = false;
template <class I, class S>
  requires(requires(const S& last) { last.base(); })
inline constexpr bool ends_by_count<std::counted_iterator<I>, S> =
    never_reached<std::remove_cvref_t<decltype(std::declval<const S&>().base())>>;

/// Is the length of [first, last) known without a walk?
template <class I, class S>
inline constexpr bool is_sized = std::sized_sentinel_for<S, I> || ends_by_count<I, S>;

template <class I, class S>
constexpr void refuse_endless() {
  static_assert(!never_reached<S>,
                "nopal: this range has no end, so the algorithm would not end either. Give it one: range | std::views::take(n), or "
                "std::views::iota(first, last).");
}

/// Returns the end of [first, last). O(1) if is_sized.
template <class I, class S>
I end_of(const I& first, const S& last) {
  algorithms::refuse_endless<I, S>();
  if constexpr (ends_by_count<I, S> && !std::sized_sentinel_for<S, I>) {
    return first + first.count();
  } else {
    return std::ranges::next(first, last);
  }
}

/// Returns the number of elements of [first, last); 0 if last is before first.
template <class I, class S>
std::size_t length(const I& first, const S& last) {
  if constexpr (std::sized_sentinel_for<S, I>) {
    const auto n = last - first;
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  } else {
    return static_cast<std::size_t>(algorithms::end_of(first, last) - first);
  }
}

/// Returns the number of elements of [first, last), but at most `most`.
template <class I, class S>
std::size_t length_up_to(std::size_t most, I first, const S& last) {
  if constexpr (never_reached<S>) {
    return most;
  } else if constexpr (is_sized<I, S>) {
    return std::min(most, algorithms::length(first, last));
  } else {
    std::size_t n = 0;
    for (; n != most && !static_cast<bool>(first == last); ++n) ++first;
    return n;
  }
}

/// Returns the length of the shorter of two ranges.
template <class I1, class S1, class I2, class S2>
std::size_t shorter_length(const I1& first1, const S1& last1, const I2& first2, const S2& last2) {
  if constexpr (never_reached<S1> || (!is_sized<I1, S1> && is_sized<I2, S2>)) {
    return algorithms::length_up_to(algorithms::length(first2, last2), first1, last1);
  } else if constexpr (never_reached<S2> || is_sized<I1, S1>) {
    return algorithms::length_up_to(algorithms::length(first1, last1), first2, last2);
  } else {
    I1 it1 = first1;
    I2 it2 = first2;
    std::size_t n = 0;
    for (; !static_cast<bool>(it1 == last1) && !static_cast<bool>(it2 == last2); ++n) {
      ++it1;
      ++it2;
    }
    return n;
  }
}

}  // namespace nopal::core::algorithms
