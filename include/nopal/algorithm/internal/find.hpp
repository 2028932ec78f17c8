#pragma once

// The searches that find_if, all_of, equal, is_sorted, find_first_of and their like share: over elements; over pairs of elements of two
// ranges, at the same place or each with each; over neighbours in one range.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// So many elements are searched between two checks of what other threads have found; more of numbers in contiguous memory.
inline constexpr std::size_t search_stride = 512;
inline constexpr std::size_t long_search_stride = 4096;

/// Lowers `value` to `to` if that is less.
inline void lower(std::atomic<std::size_t>& value, std::size_t to) noexcept {
  // Relaxed: the value carries no other data. The join of the loop orders the last load.
  std::size_t before = value.load(std::memory_order::relaxed);
  while (to < before && !value.compare_exchange_weak(before, to, std::memory_order::relaxed)) {
  }
}

/// Keeps, of the exceptions that predicates throw, that of the lowest place.
class first_thrown {
 public:
  explicit first_thrown(std::size_t n) : place_{n} {}

  /// Call it in the handler of an exception that was thrown at `place`.
  void note(std::size_t place) noexcept {
    const std::lock_guard<spin_lock> hold{lock_};
    if (place >= place_) return;
    place_ = place;
    exception_ = std::current_exception();
  }
  /// Returns whether the exception that is handled now is the one that was noted, and was thrown behind `place`. Call it when no thread
  /// calls note any more.
  [[nodiscard]] bool is_behind(std::size_t place) const {
    return exception_ != nullptr && place < place_ && std::current_exception() == exception_;
  }

 private:
  using spin_lock = basic_spin_lock<std_sync>;
  spin_lock lock_;
  std::size_t place_;
  std::exception_ptr exception_;
};

/// Moves `at` to the first place before `end` for which holds(place), and returns whether there is one. If holds throws, `at` is the place
/// where it threw. A `holds` with a first_of(at, end) of its own may look at many places at once.
template <class Holds>
NOPAL_INLINE bool first_of(const Holds& holds, std::size_t& at, std::size_t end) {
  if constexpr (requires { holds.first_of(at, end); }) {
    return holds.first_of(at, end);
  } else {
#pragma GCC unroll 4
    for (; at != end; ++at) {
      if (holds(at)) return true;
    }
    return false;
  }
}

/// Elements whose reads nobody can observe: numbers, pointers and enumerations in contiguous memory, in either direction.
template <class I>
inline constexpr bool reads_plainly = std::contiguous_iterator<I> && std::is_scalar_v<std::iter_value_t<I>> &&
                                      !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<I>>>;
template <class I>
inline constexpr bool reads_plainly<std::reverse_iterator<I>> = reads_plainly<I>;

/// Does no comparison of two such elements throw? The operators of an enumeration may be the user's.
template <class Pred, class I1, class I2>
concept compares_without_throwing = (!std::is_enum_v<std::iter_value_t<I1>> && !std::is_enum_v<std::iter_value_t<I2>>) ||
                                    requires(const Pred& pred, std::iter_reference_t<I1> a, std::iter_reference_t<I2> b) {
                                      { pred(a, b) } noexcept -> std::same_as<bool>;
                                    };

/// Are two such elements compared by the built-in operator, or by one that cannot throw either? Then they are also compared where no serial
/// search would come.
template <class Pred, class Proj1, class Proj2, class I1, class I2>
concept compares_in_rows =
    (equals_plainly<Pred> || compares_plainly<Pred>) && std::same_as<Proj1, std::identity> && std::same_as<Proj2, std::identity> &&
    reads_plainly<I1> && reads_plainly<I2> && compares_without_throwing<Pred, I1, I2>;

/// A search for holds(place), which is false where may(place) is false. With `Plainly`, calls of may do nothing but answer: rows of places are
/// then searched without a branch between them, so that compilers vectorise, by may.any<places>(place) if there is one.
template <bool Plainly, class May, class Holds>
struct in_rows {
  static constexpr std::size_t stride = Plainly ? long_search_stride : search_stride;
  May may;
  Holds holds;

  NOPAL_INLINE bool operator()(std::size_t i) const { return may(i) && holds(i); }
  bool first_of(std::size_t& at, std::size_t end) const
    requires Plainly
  {
    constexpr std::size_t row = 64;
    const May may_here = may;  // a copy that no write of a call can change
    while (at != end) {
      const std::size_t stop = end - at > row ? at + row : end;
      unsigned any = 0;
      if (stop - at != row) {
        any = 1;
      } else if constexpr (requires { may_here.template any<row>(at); }) {
        any = may_here.template any<row>(at) ? 1 : 0;
      } else {
        for (std::size_t i = 0; i != row; ++i) any |= may_here(at + i) ? 1U : 0U;
      }
      if (any == 0) {
        at = stop;
        continue;
      }
      for (; at != stop; ++at) {
        if ((*this)(at)) return true;
      }
    }
    return false;
  }
};
struct always {
  bool operator()(std::size_t) const { return true; }
};
template <bool Plainly, class May, class Holds = always>
in_rows<Plainly, May, Holds> look_in_rows(May may, Holds holds = {}) {
  return {may, holds};
}

/// `holds` may give this number itself.
template <class Holds>
inline constexpr std::size_t stride_of = search_stride;
template <class Holds>
  requires(Holds::stride > 0)
inline constexpr std::size_t stride_of<Holds> = Holds::stride;

/// Returns the least i of [from, n) for which holds(i), or n. Places behind one that was found are not begun any more. An exception counts
/// only if a serial search would have met it: not behind the place that is found.
template <class Holds>
std::size_t find_first(std::size_t from, std::size_t n, const Holds& holds) {
  std::atomic<std::size_t> found{n};
  first_thrown thrown{n};
  try {
    nopal::parallel_for_blocks(from, n, [&](std::size_t first, std::size_t last) {
      while (first < last) {
        // Relaxed: a hint. Missing it costs some searching in vain.
        if (found.load(std::memory_order::relaxed) < first) return;
        const std::size_t end = std::min(last, first + stride_of<Holds>);
        try {
          if (algorithms::first_of(holds, first, end)) return algorithms::lower(found, first);
        } catch (...) {
          thrown.note(first);
          throw;
        }
      }
    });
  } catch (...) {
    // Relaxed: the loop has joined all writers. An exception of the loop itself is no predicate's: then not all places were searched.
    if (!thrown.is_behind(found.load(std::memory_order::relaxed))) throw;
  }
  return found.load(std::memory_order::relaxed);
}

/// Where a search ended: at the place found, or behind so many elements.
struct search_result {
  std::size_t place;
  bool found;
};

/// A range of unknown length is searched in blocks: 64 elements, then each time as many as all before. So no more is searched in vain than
/// had to be searched.
inline std::size_t next_search(std::size_t from) noexcept { return std::max<std::size_t>(from, 64); }

/// Searches n elements in such blocks.
template <class Holds>
search_result search_growing(std::size_t n, const Holds& holds) {
  for (std::size_t from = 0; from != n;) {
    const std::size_t to = from + std::min(n - from, algorithms::next_search(from));
    const std::size_t place = algorithms::find_first(from, to, holds);
    if (place != to) return {place, true};
    from = to;
  }
  return {n, false};
}
/// From so many elements on (numbers, not memory) a range with an end is searched in blocks too: a loop over all of it would still pass
/// over those behind the place that is found, some 10^10 at a time.
inline constexpr std::uint64_t huge_search = std::uint64_t{1} << 36;

/// Searches n elements.
template <class Holds>
search_result search_sized(std::size_t n, const Holds& holds) {
  if (n >= huge_search) return algorithms::search_growing(n, holds);
  const std::size_t place = algorithms::find_first(0, n, holds);
  return {place, place != n};
}

/// Searches an endless range; `left` of its elements may be looked at.
template <class Holds>
search_result search_endless(std::size_t left, const Holds& holds) {
  const search_result hit = algorithms::search_growing(left, holds);
  if (hit.found) return hit;
  throw std::out_of_range{
      "nopal: a search has come to the last number of its range's type and found nothing, and the range has no end. Give it one: "
      "std::views::iota(first, last)"};
}

/// Searches a range of unknown end in which the caller promises a hit. Nothing behind the hit may be touched.
template <class Holds>
search_result search_one_by_one(const Holds& holds) {
  for (std::size_t place = 0;; ++place) {
    if (place % search_stride == 0) {
      let_due_run_between_blocks();
      throw_if_stopped();
    }
    if (holds(place)) return {place, true};
  }
}

/// Searches a range whose end is found by walking, block by block: the walk ends with the search.
template <class I, class S, class Holds>
search_result search_walking(I it, const S& last, const Holds& holds) {
  std::size_t to = 0;
  bool at_end = false;
  std::exception_ptr thrown;  // by the walk; a serial search meets it behind all that the walk has passed
  while (!at_end && thrown == nullptr) {
    const std::size_t from = to;
    const std::size_t size = algorithms::next_search(from);
    try {
      for (; to - from != size && !(at_end = static_cast<bool>(it == last)); ++to) ++it;
    } catch (...) {
      thrown = core::caught();
    }
    const std::size_t place = algorithms::find_first(from, to, holds);
    if (place != to) return {place, true};
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return {to, false};
}

/// Returns the least i for which holds(i) in [first, last): the place that a serial search would find. Throws the exception that it would
/// meet first.
template <class I, class S, class Holds>
search_result search(const I& first, const S& last, const Holds& holds) {
  if constexpr (std::same_as<S, endless> || (never_reached<S> && counts<I>)) {
    return algorithms::search_endless(algorithms::left_ahead(first), holds);
  } else if constexpr (never_reached<S>) {
    return algorithms::search_one_by_one(holds);
  } else if constexpr (is_sized<I, S>) {
    return algorithms::search_sized(algorithms::length(first, last), holds);
  } else {
    return algorithms::search_walking(first, last, holds);
  }
}

/// Is it unknown what is behind the place that a search of [first, last) finds?
template <class I, class S>
inline constexpr bool ends_anywhere = never_reached<S> && !std::same_as<S, endless> && !counts<I>;

/// Does [first, last), which has at least n elements, end behind n?
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

/// As search, over the places that both ranges have. If neither has an end, up to the last number of either's type.
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

/// Integers or pointers in contiguous memory in both ranges: many are compared at once.
template <class I1, class I2>
inline constexpr bool lie_alike =
    std::contiguous_iterator<I1> && std::contiguous_iterator<I2> && std::same_as<std::iter_value_t<I1>, std::iter_value_t<I2>> &&
    (std::is_integral_v<std::iter_value_t<I1>> || std::is_pointer_v<std::iter_value_t<I1>>);

/// Whether differs(place, it1, it2) holds, with both iterators at `place`. `AtOnce`: it never holds where the elements, which have the same
/// layout, are equal.
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

/// Finds where two ranges first differ, by a predicate for equality.
template <class I1, class S1, class I2, class S2, class Pred, class Proj1, class Proj2>
search_result find_mismatch(const I1& first1, const S1& last1, const I2& first2, const S2& last2, Pred& pred, Proj1& proj1, Proj2& proj2) {
  constexpr bool plainly = equals_plainly<Pred> && compares_in_rows<Pred, Proj1, Proj2, I1, I2>;
  const auto differs = [&](std::size_t, const I1& it1, const I2& it2) {
    return !static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
  };
  return algorithms::search_two(first1, last1, first2, last2, differs_at < plainly && lie_alike<I1, I2>, I1, I2,
                                decltype(differs) > {first1, first2, differs});
}

/// Finds the first place for which holds(it), among elements that have a next one; else returns the number of elements. `Plainly`: see
/// in_rows.
template <bool Plainly = false, class I, class S, class Holds>
search_result search_neighbours(const I& first, const S& last, const Holds& holds) {
  if (algorithms::ends_at(first, last, 0)) return {0, false};
  const auto at_place = algorithms::look_in_rows<Plainly>([first, &holds](std::size_t i) { return holds(algorithms::ahead(first, i)); });
  const search_result hit = algorithms::search(algorithms::ahead(first, 1), last, at_place);
  return {hit.place + (hit.found ? 0 : 1), hit.found};
}

/// All pairs of an element of one range and one of `columns` elements of another, row by row, as places. Does same(it1, it2) hold at a
/// place?
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
        // A whole row. If it throws, the row's first place stands for all of it.
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

/// As search, with `columns` places for each element, at least one: the element of a place is place / columns.
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
