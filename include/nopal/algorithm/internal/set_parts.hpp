#pragma once

// The set algorithms of two sorted ranges, in parts. A serial algorithm walks both ranges by steps: each takes the next element of one
// range, or one of each where they are equal. Each part begins at a place that the serial walk passes, records its steps and, once it is
// known how much all parts before it write, writes what its steps say. All four algorithms make the same steps, and each comparison is made
// once.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The elements of a part, where comparisons take nanoseconds.
inline constexpr std::size_t least_set_part = 1024;

/// These types identify the costs that are remembered: of finding where a part begins, of its steps, of what it writes.
template <class Site>
struct set_search {};
template <class Site>
struct set_steps {};
template <class Site>
struct set_writes {};

/// Which ranges a step takes an element from. An algorithm writes the steps in a set of these, as bits; for a step of both, it writes the
/// element of the first range.
enum steps : unsigned { of_first = 1, of_second = 2, of_both = 3 };
constexpr bool writes(unsigned set, unsigned step) { return (set >> step & 1) != 0; }

/// The number of elements of each range before a place.
struct set_place {
  std::size_t first;
  std::size_t second;
};

/// Pointers to values of one type that are cheap to copy.
template <class T, class... I>
inline constexpr bool all_point_to = is_cheap<T> && (... && (std::is_pointer_v<I> && std::is_same_v<std::iter_value_t<I>, T>));

/// Two sorted ranges and how they are compared.
template <class I1, class I2, class Comp, class Proj1, class Proj2>
struct two_sorted {
  using T = std::iter_value_t<I1>;

  I1 first1;
  std::size_t n1;
  I2 first2;
  std::size_t n2;
  Comp& comp;
  Proj1& proj1;
  Proj2& proj2;
  bool slow = false;  ///< comparisons take long

  /// This type identifies the cost of comparisons that is remembered.
  struct site {};

  /// Does the first element of the second range come before that of the first?
  [[nodiscard]] bool begins_with_second() const { return less<true, false>(0, 0); }

  /// Returns where a serial walk is when it has passed `passed` elements, or one less if that would be within a pair. O(log n) comparisons.
  [[nodiscard]] set_place place(std::size_t passed) const {
    const std::size_t i = algorithms::from_left_of_first(passed, first1, n1, first2, n2, [this](auto&& of_second, auto&& of_first) {
      return static_cast<bool>(std::invoke(comp, std::invoke(proj2, static_cast<decltype(of_second)>(of_second)),
                                           std::invoke(proj1, static_cast<decltype(of_first)>(of_first))));
    });
    const std::size_t j = passed - i;
    if (i == n1 && j == n2) return {i, j};
    return i == n1 || (j < n2 && less<true, false>(j, i)) ? place_in_run<true>(i, j, j) : place_in_run<false>(i, j, i);
  }

  /// Records the steps from one place to another, except those behind the end of one range, and returns how many of all steps are in `set`.
  std::size_t find_steps(set_place at, set_place end, std::uint8_t* note, unsigned set) const {
    const std::size_t firsts = end.first - at.first;
    const std::size_t seconds = end.second - at.second;
    std::size_t pairs = 0;
    const two_sorted here = *this;  // a copy that no write of a step can change
    while (at.first < end.first && at.second < end.second) {
      if (here.is_quick()) {  // no branch depends on a comparison; below, the next comparison begins before the last one has ended
        const auto is_first = static_cast<std::size_t>(here.template less<false, true>(at.first, at.second));
        const auto is_second = static_cast<std::size_t>(here.template less<true, false>(at.second, at.first)) & ~is_first;
        *note++ = static_cast<std::uint8_t>(of_both - of_second * is_first - of_first * is_second);
        pairs += 1 - is_first - is_second;
        at.first += 1 - is_second;
        at.second += 1 - is_first;
      } else if (here.template less<false, true>(at.first, at.second)) {
        *note++ = of_first;
        ++at.first;
      } else if (here.template less<true, false>(at.second, at.first)) {
        *note++ = of_second;
        ++at.second;
      } else {
        *note++ = of_both;
        ++at.first;
        ++at.second;
        ++pairs;
      }
    }
    return (writes(set, of_first) ? firsts - pairs : 0) + (writes(set, of_second) ? seconds - pairs : 0) +
           (writes(set, of_both) ? pairs : 0);
  }

  /// Writes to [to, stop) what these steps say.
  template <class O>
  void write(set_place at, set_place end, const std::uint8_t* note, unsigned set, O to, O stop) const {
    I1 it1 = algorithms::ahead(first1, at.first);
    I2 it2 = algorithms::ahead(first2, at.second);
    const I1 end1 = algorithms::ahead(first1, end.first);
    const I2 end2 = algorithms::ahead(first2, end.second);
    while (to != stop && it1 != end1 && it2 != end2) {
      const unsigned step = *note++;
      if constexpr (all_point_to<T, I1, I2, O>) {
        const T one(std::as_const(*it1));
        const T other(std::as_const(*it2));
        *to = step == of_second ? other : one;  // unwanted elements are overwritten
        to += set >> step & 1;
      } else if (writes(set, step)) {
        if (step == of_second) {
          *to = *it2;
        } else {
          *to = *it1;
        }
        ++to;
      }
      it1 += static_cast<std::iter_difference_t<I1>>(step & of_first);
      it2 += static_cast<std::iter_difference_t<I2>>(step >> 1);
    }
    if (to == stop) return;
    if (writes(set, of_first)) to = std::ranges::copy(it1, end1, to).out;
    if (writes(set, of_second)) std::ranges::copy(it2, end2, to);
  }

 private:
  /// After so many elements the next one is from one of the ranges. Elements that equal it are passed together: first as many pairs as
  /// there are, then the rest of the longer side.
  template <bool IsSecond>
  [[nodiscard]] set_place place_in_run(std::size_t passed1, std::size_t passed2, std::size_t next) const {
    const std::size_t begin1 = run_begin(passed1, [&](std::size_t k) { return less<false, IsSecond>(k, next); });
    const std::size_t begin2 = IsSecond ? run_begin(passed2, [&](std::size_t k) { return less<true, IsSecond>(k, next); }) : passed2;
    const std::size_t rest = passed1 + passed2 - begin1 - begin2;
    const std::size_t pairs = rest / 2;
    const auto equal1 = [&](std::size_t k) { return begin1 + k < n1 && !less<IsSecond, false>(next, begin1 + k); };
    const auto equal2 = [&](std::size_t k) { return begin2 + k < n2 && !less<IsSecond, true>(next, begin2 + k); };
    if (pairs > 0 && !equal1(pairs - 1)) {
      const std::size_t shorter = algorithms::bound(pairs, equal1);
      return {begin1 + shorter, begin2 + rest - shorter};
    }
    if (pairs > 0 && !equal2(pairs - 1)) {
      const std::size_t shorter = algorithms::bound(pairs, equal2);
      return {begin1 + rest - shorter, begin2 + shorter};
    }
    return {begin1 + pairs, begin2 + pairs};
  }

  /// Are both comparisons made for each step?
  [[nodiscard]] NOPAL_INLINE bool is_quick() const { return all_point_to<T, I1, I2> && !slow; }

  /// Calls f with the projection of an element, which may die after the call.
  template <bool OfSecond, class F>
  NOPAL_INLINE bool with(std::size_t at, const F& f) const {
    if constexpr (OfSecond) {
      return f(std::invoke(proj2, *algorithms::ahead(first2, at)));
    } else {
      return f(std::invoke(proj1, *algorithms::ahead(first1, at)));
    }
  }
  /// Does an element of either range come before another of either range?
  template <bool OfSecond, bool ThanSecond>
  NOPAL_INLINE bool less(std::size_t a, std::size_t b) const {
    return with<OfSecond>(a, [&](auto&& x) {
      return with<ThanSecond>(
          b, [&](auto&& y) { return static_cast<bool>(std::invoke(comp, static_cast<decltype(x)>(x), static_cast<decltype(y)>(y))); });
    });
  }

  /// Returns the first element before `end` that is not before the one there. As a rule it is near the end, so the search begins there.
  template <class IsBefore>
  static std::size_t run_begin(std::size_t end, const IsBefore& is_before) {
    for (std::size_t step = 1; end > 0; step *= 2) {
      const std::size_t at = end > step ? end - step : 0;
      if (is_before(at)) return at + 1 + algorithms::bound(end - at - 1, [&](std::size_t k) { return is_before(at + 1 + k); });
      end = at;
    }
    return 0;
  }
};

/// Writes the steps that are in `set`, and returns their number. Called by a worker if it is slow. O(n) work; O(n / 1024 + log n) span, or,
/// if it is slow, O(n / P + log n) with P workers. Throws also std::bad_alloc.
template <class Sorted, class O>
std::size_t write_set(const Sorted& sorted, O out, unsigned set) {
  using site = typename Sorted::site;
  const std::size_t n = sorted.n1 + sorted.n2;
  blocks cut{n, least_set_part};
  if (sorted.slow) {
    const auto search = static_cast<std::size_t>(std::bit_width(std::min(sorted.n1, sorted.n2))) + 2;
    const std::size_t parts = algorithms::slow_merge_parts(n, search, core::current()->pool().size());
    cut = blocks{n, blocks::exactly{(n + parts - 1) / parts}};
    const double ticks = cost_of<site>.ticks();
    cost_of<set_search<site>>.learn(ticks * static_cast<double>(search));
    cost_of<set_steps<site>>.learn(ticks * static_cast<double>(cut.size));
  }
  std::vector<set_place> places(cut.count + 1);
  algorithms::loop_at<set_search<site>>(cut.count - 1, [&](std::size_t part, std::size_t last) {
    for (; part != last; ++part) places[part + 1] = sorted.place(cut.begin(part + 1));
  });
  for (std::size_t part = 1; part < cut.count; ++part) {  // clamped: unsorted ranges may contradict themselves
    places[part].first = std::max(places[part].first, places[part - 1].first);
    places[part].second = std::max(places[part].second, places[part - 1].second);
  }
  places[cut.count] = {sorted.n1, sorted.n2};
  const raw_buffer<std::uint8_t> notes{n};
  const auto notes_of = [&](std::size_t part) { return notes.data() + places[part].first + places[part].second; };
  std::vector<std::size_t> before(cut.count + 1);
  algorithms::loop_at<set_steps<site>>(cut.count, [&](std::size_t part, std::size_t last) {
    for (; part != last; ++part) before[part + 1] = sorted.find_steps(places[part], places[part + 1], notes_of(part), set);
  });
  for (std::size_t part = 0; part < cut.count; ++part) before[part + 1] += before[part];
  algorithms::loop_at<set_writes<site>>(cut.count, [&](std::size_t part, std::size_t last) {
    for (; part != last; ++part)
      sorted.write(places[part], places[part + 1], notes_of(part), set, algorithms::ahead(out, before[part]),
                   algorithms::ahead(out, before[part + 1]));
  });
  return before[cut.count];
}

}  // namespace nopal::core::algorithms
