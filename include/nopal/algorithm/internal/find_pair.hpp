#pragma once

// Searches over pairs of elements: of two ranges, each element with the one at its place in the other, as equal, mismatch and
// lexicographical_compare do; or each with all of the other, as find_first_of does; of one range, each with the next.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Is nothing known of what lies behind the place that a search of [first, last) finds?
template <class I, class S>
inline constexpr bool ends_anywhere = never_reached<S> && !std::same_as<S, endless> && !counts<I>;

/// Is there nothing behind the first n elements, of which all are there?
template <class I, class S>
bool ends_at(const I& first, const S& last, std::size_t n) {
  if constexpr (never_reached<S>) {
    return false;
  } else if constexpr (is_sized<I, S>) {
    return algorithms::length(first, last) == n;
  } else {
    return static_cast<bool>(algorithms::ahead(first, n) == last);
  }
}

/// A walk through two ranges, to the end of the shorter.
template <class I1, class I2>
struct walk_of_two {
  I1 in1;
  I2 in2;
  walk_of_two& operator++() {
    ++in1;
    ++in2;
    return *this;
  }
};
template <class S1, class S2>
struct end_of_two {
  S1 last1;
  S2 last2;
  template <class I1, class I2>
  friend bool operator==(const walk_of_two<I1, I2>& walk, const end_of_two& end) {
    return static_cast<bool>(walk.in1 == end.last1) || static_cast<bool>(walk.in2 == end.last2);
  }
};

/// As search, of the places that two ranges have both; where neither has an end, to the last number of either's type.
template <class I1, class S1, class I2, class S2, class Holds>
search_result search_two(const I1& first1, const S1& last1, const I2& first2, const S2& last2, const Holds& holds) {
  if constexpr (ends_anywhere<I1, S1> || ends_anywhere<I2, S2>) {
    walk_of_two<I1, I2> walk{first1, first2};
    const end_of_two<S1, S2> end{last1, last2};
    for (std::size_t place = 0;; ++place, static_cast<void>(++walk)) {
      if (place % search_stride == 0) throw_if_stopped();
      if (walk == end) return {place, false};
      if (holds(place)) return {place, true};
    }
  } else if constexpr (never_reached<S1> && never_reached<S2>) {
    return algorithms::search_endless(std::min(algorithms::left_ahead(first1), algorithms::left_ahead(first2)), holds);
  } else if constexpr (never_reached<S1>) {
    return algorithms::search(first2, last2, holds);
  } else if constexpr (never_reached<S2>) {
    return algorithms::search(first1, last1, holds);
  } else if constexpr (is_sized<I1, S1> && is_sized<I2, S2>) {
    return algorithms::search_sized(algorithms::shorter_length(first1, last1, first2, last2), holds);
  } else {
    return algorithms::search_walking(walk_of_two<I1, I2>{first1, first2}, end_of_two<S1, S2>{last1, last2}, holds);
  }
}

/// Whole numbers or pointers that lie in a row in both ranges, so that many are compared at once.
template <class I1, class I2>
inline constexpr bool lie_alike =
    std::contiguous_iterator<I1> && std::contiguous_iterator<I2> && std::same_as<std::iter_value_t<I1>, std::iter_value_t<I2>> &&
    (std::is_integral_v<std::iter_value_t<I1>> || std::is_pointer_v<std::iter_value_t<I1>>);

/// Does differs(place, it1, it2) hold where both are at a place? `AtOnce`: it never does where the elements, which lie alike, are equal.
template <bool AtOnce, class I1, class I2, class Differs>
struct differs_at {
  static constexpr std::size_t stride = AtOnce ? long_search_stride : search_stride;
  const I1& first1;
  const I2& first2;
  const Differs& differs;

  NOPAL_INLINE bool operator()(std::size_t i) const { return differs(i, algorithms::ahead(first1, i), algorithms::ahead(first2, i)); }
  bool first_of(std::size_t& at, std::size_t end) const
    requires AtOnce
  {
    const auto* const begin = std::to_address(first1);
    if (std::equal(begin + at, begin + end, std::to_address(first2) + at)) {
      at = end;
      return false;
    }
    while (!(*this)(at)) {
      if (++at == end) return false;
    }
    return true;
  }
};

/// Where two ranges first differ, by a predicate that says what is equal.
template <class I1, class S1, class I2, class S2, class Pred, class Proj1, class Proj2>
search_result find_mismatch(const I1& first1, const S1& last1, const I2& first2, const S2& last2, Pred& pred, Proj1& proj1, Proj2& proj2) {
  constexpr bool plainly = equals_plainly<Pred> && compares_in_rows<Pred, Proj1, Proj2, I1, I2>;
  const auto differs = [&](std::size_t, const I1& it1, const I2& it2) {
    return !static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
  };
  return algorithms::search_two(first1, last1, first2, last2, differs_at < plainly && lie_alike<I1, I2>, I1, I2,
                                decltype(differs) > {first1, first2, differs});
}

/// The first place where holds(it) for an element that has one behind it; or how many elements there are. `Plainly`: see in_rows.
template <bool Plainly = false, class I, class S, class Holds>
search_result search_neighbours(const I& first, const S& last, const Holds& holds) {
  if (algorithms::ends_at(first, last, 0)) return {0, false};
  const auto at_place = algorithms::look_in_rows<Plainly>([first, &holds](std::size_t i) { return holds(algorithms::ahead(first, i)); });
  const search_result hit = algorithms::search(algorithms::ahead(first, 1), last, at_place);
  return {hit.place + (hit.found ? 0 : 1), hit.found};
}

/// The places of all pairs of an element of one range and one of `columns` elements of another, row by row: does same(it1, it2) hold?
template <class I1, class I2, class Same>
struct same_at {
  I1 first1;
  I2 first2;
  std::size_t columns;
  const Same& same;

  bool operator()(std::size_t i) const { return same(algorithms::ahead(first1, i / columns), algorithms::ahead(first2, i % columns)); }
  NOPAL_INLINE bool first_of(std::size_t& at, std::size_t end) const {
    std::size_t column = at % columns;
    for (I1 it = algorithms::ahead(first1, at / columns); at != end; static_cast<void>(++it), column = 0) {
      if (column == 0 && end - at >= columns) {
        // A whole row: where that throws, its beginning stands for all of it.
        I2 other = first2;
        for (std::size_t i = 0; i != columns; ++i, static_cast<void>(++other)) {
          if (same(it, other)) {
            at += i;
            return true;
          }
        }
        at += columns;
        continue;
      }
      I2 other = algorithms::ahead(first2, column);
      for (const std::size_t stop = std::min(end, at + (columns - column)); at != stop; ++at, static_cast<void>(++other)) {
        if (same(it, other)) return true;
      }
    }
    return false;
  }
};
/// A walk along rows of so many places each.
template <class I>
struct walk_by_rows {
  I row;
  std::size_t columns;
  std::size_t column = 0;
  walk_by_rows& operator++() {
    if (++column == columns) {
      column = 0;
      ++row;
    }
    return *this;
  }
};
template <class S>
struct end_of_rows {
  S last;
  template <class I>
  friend bool operator==(const walk_by_rows<I>& walk, const end_of_rows& end) {
    return static_cast<bool>(walk.row == end.last);
  }
};

/// As search, with so many places for each element, one at least: place / columns is the element's.
template <class I, class S, class Holds>
search_result search_rows(const I& first, const S& last, std::size_t columns, const Holds& holds) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  if constexpr (ends_anywhere<I, S>) {
    return algorithms::search_one_by_one(holds);
  } else if constexpr (never_reached<S>) {
    return algorithms::search_endless(std::min(algorithms::left_ahead(first), most / columns) * columns, holds);
  } else if constexpr (is_sized<I, S>) {
    return algorithms::search_sized(std::min(algorithms::length(first, last), most / columns) * columns, holds);
  } else {
    return algorithms::search_walking(walk_by_rows<I>{first, columns}, end_of_rows<S>{last}, holds);
  }
}

}  // namespace nopal::core::algorithms
