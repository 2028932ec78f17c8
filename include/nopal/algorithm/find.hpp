#pragma once

// find, find_if, find_if_not, adjacent_find, find_first_of, search, find_end: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct find_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T*>
  I operator()(I first, S last, const T& value, Proj proj = {}) const {
    const auto holds = algorithms::look_in_rows<compares_in_rows<std::equal_to<>, Proj, std::identity, I, const T*>>(
        [first, &value, &proj](std::size_t i) { return static_cast<bool>(std::invoke(proj, *algorithms::ahead(first, i)) == value); });
    const search_result hit = algorithms::search(first, last, holds);
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T*>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value, std::move(proj));
  }
};

struct find_if_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  I operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const search_result hit = algorithms::search(
        first, last, [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); });
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

struct find_if_not_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  I operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const search_result hit = algorithms::search(
        first, last, [&](std::size_t i) { return !static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); });
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

struct adjacent_find_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_binary_predicate<std::projected<I, Proj>, std::projected<I, Proj>> Pred = std::ranges::equal_to>
  I operator()(I first, S last, Pred pred = {}, Proj proj = {}) const {
    const search_result hit = algorithms::search_neighbours<compares_in_rows<Pred, Proj, Proj, I, I>>(first, last, [&](const I& it) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj, *it), std::invoke(proj, *algorithms::ahead(it, 1))));
    });
    return algorithms::ahead(first, hit.place);
  }
  template <
      std::ranges::random_access_range R, class Proj = std::identity,
      std::indirect_binary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>, std::projected<std::ranges::iterator_t<R>, Proj>>
          Pred = std::ranges::equal_to>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

/// Is the element at a place equal to one of a few, where nobody can observe comparisons?
template <class I1, class I2>
struct equals_one_of {
  I1 first1;
  I2 first2;
  std::size_t n2;

  bool operator()(std::size_t i) const {
    bool any = false;
    for (std::size_t j = 0; j != n2; ++j) any |= *algorithms::ahead(first1, i) == *algorithms::ahead(first2, j);
    return any;
  }
  template <std::size_t Places>
  bool any(std::size_t from) const {
    const I1 begin = algorithms::ahead(first1, from);
    for (std::size_t j = 0; j != n2; ++j) {
      const auto one = *algorithms::ahead(first2, j);
      unsigned any = 0;
      for (std::size_t i = 0; i != Places; ++i) any |= *algorithms::ahead(begin, i) == one ? 1U : 0U;
      if (any != 0) return true;
    }
    return false;
  }
};
/// More are compared one by one: else the first place would have to wait for a whole row.
inline constexpr std::size_t few_looked_for = 32;

struct find_first_of_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  I1 operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const std::size_t n2 = algorithms::length(first2, last2);
    const auto same = [&](const I1& it1, const I2& it2) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
    };
    if (n2 == 0) {
      if constexpr (never_reached<S1>) {
        return algorithms::ahead(first1, algorithms::search_endless(0, [](std::size_t) { return false; }).place);  // throws at once
      } else {
        return algorithms::end_of(first1, last1);
      }
    }
    if constexpr (equals_plainly<Pred> && compares_in_rows<Pred, Proj1, Proj2, I1, I2>) {
      if (n2 <= few_looked_for) {
        const auto holds = algorithms::look_in_rows<true>(equals_one_of<I1, I2>{first1, first2, n2});
        return algorithms::ahead(first1, algorithms::search(first1, last1, holds).place);
      }
    }
    const search_result hit = algorithms::search_rows(first1, last1, n2, same_at<I1, I2, decltype(same)>{first1, first2, n2, same});
    return algorithms::ahead(first1, hit.place / n2);
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  std::ranges::borrowed_iterator_t<R1> operator()(R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(pred), std::move(proj1), std::move(proj2));
  }
};

/// Its types identify the cost of comparisons that is remembered.
template <class...>
struct pattern_pack {};

/// Finds where n2 elements from first2 on first occur in [first1, last1), by same(it1, it2). n2 > 0. `Plainly`: see in_rows.
template <class Site, bool Plainly, class I1, class S1, class I2, class Same>
search_result find_pattern(const I1& first1, const S1& last1, const I2& first2, std::size_t n2, const Same& same) {
  const std::size_t before_last = algorithms::length_up_to(n2 - 1, first1, last1);
  if (before_last != n2 - 1 || algorithms::ends_at(first1, last1, before_last)) return {before_last, false};
  const auto same_at = [&](std::size_t place, std::size_t i) {
    return same(algorithms::ahead(first1, place + i), algorithms::ahead(first2, i));
  };
  search_result hit;
  if constexpr (ends_anywhere<I1, S1>) {
    hit = algorithms::search_one_by_one([&](std::size_t place) {
      std::size_t i = 0;
      while (i != n2 && same_at(place, i)) ++i;
      return i == n2;
    });
  } else {
    // Under a controlled schedule every loop is shared, however short: there only long patterns have a loop of their own.
    const bool slow = !shares_by_schedule() && algorithms::turns_out_slow<Site>(n2, [&] { static_cast<void>(same_at(0, 0)); });
    const std::size_t alone = slow ? 1 : std::min<std::size_t>(n2, 64);
    const auto rest_is_same = [&same_at, &same, first2, n2, alone](std::size_t place, I1 it) {
      I2 other = first2;
      for (std::size_t i = 1; i != alone; ++i) {
        ++it;
        ++other;
        if (!same(it, other)) return false;
      }
      return alone == n2 || algorithms::find_first(alone, n2, [&](std::size_t i) { return !same_at(place, i); }) == n2;
    };
    // With copies of the iterators, a compiler knows that no comparison changes them.
    const auto may = [first1, first2, &same](std::size_t place) { return same(algorithms::ahead(first1, place), first2); };
    const auto rest = [first1, &rest_is_same](std::size_t place) { return rest_is_same(place, algorithms::ahead(first1, place)); };
    hit = algorithms::search(algorithms::ahead(first1, before_last), last1, algorithms::look_in_rows<Plainly>(may, rest));
  }
  return {hit.place + (hit.found ? 0 : before_last), hit.found};
}

struct search_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  std::ranges::subrange<I1> operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const std::size_t n2 = algorithms::length(first2, last2);
    if (n2 == 0) return {first1, first1};
    const auto same = [&](const I1& it1, const I2& it2) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
    };
    const search_result hit =
        algorithms::find_pattern<pattern_pack<I1, I2, Pred, Proj1, Proj2>, compares_in_rows<Pred, Proj1, Proj2, I1, I2>>(first1, last1,
                                                                                                                         first2, n2, same);
    const I1 found = algorithms::ahead(first1, hit.place);
    return {found, hit.found ? algorithms::ahead(found, n2) : found};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  std::ranges::borrowed_subrange_t<R1> operator()(R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(pred), std::move(proj1), std::move(proj2));
  }
};

struct find_end_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  std::ranges::subrange<I1> operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const I1 end1 = algorithms::end_of(first1, last1);
    const I2 end2 = algorithms::end_of(first2, last2);
    const auto n2 = static_cast<std::size_t>(end2 - first2);
    if (n2 == 0) return {end1, end1};
    // From the end, as the standard libraries do: it stops at the last match.
    const auto same = [&](const std::reverse_iterator<I1>& it1, const std::reverse_iterator<I2>& it2) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj1, *it1), std::invoke(proj2, *it2)));
    };
    const search_result hit =
        algorithms::find_pattern<pattern_pack<find_end_function, I1, I2, Pred, Proj1, Proj2>, compares_in_rows<Pred, Proj1, Proj2, I1, I2>>(
            std::reverse_iterator<I1>{end1}, std::reverse_iterator<I1>{first1}, std::reverse_iterator<I2>{end2}, n2, same);
    if (!hit.found) return {end1, end1};
    const I1 behind_found = algorithms::behind(end1, hit.place);
    return {algorithms::behind(behind_found, n2), behind_found};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  std::ranges::borrowed_subrange_t<R1> operator()(R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(pred), std::move(proj1), std::move(proj2));
  }
};

}  // namespace core::algorithms

/// find(first, last, value, proj = identity), find(range, value, proj): returns the first element whose projection equals `value`, or the
/// end, as std::ranges::find does. Several threads compare elements and call proj at once, also for some elements behind the one that is
/// found. What is thrown for those is dropped; what is thrown before is rethrown. Off a pool also throws what default_pool() throws. O(n)
/// work at most, O(log n) span. The range may have no end: see find_if.
inline constexpr core::algorithms::find_function find{};

/// find_if(first, last, pred, proj = identity), find_if(range, pred, proj): returns the first element for which pred holds, or the end, as
/// std::ranges::find_if does. Several threads call pred. All else is as for find.
///
/// A range without an end, as std::views::iota(0), is searched in blocks that grow. Behind the element that is found, no more elements are
/// looked at than before it, or 64 if these are more. Throws std::out_of_range behind the last number of an integer type. Between an
/// iterator and a std::unreachable_sentinel the search is serial and looks at nothing behind the element that is found, unless the iterator
/// counts.
inline constexpr core::algorithms::find_if_function find_if{};
/// find_if_not(first, last, pred, proj = identity), find_if_not(range, pred, proj): returns the first element for which pred does not hold,
/// or the end, as std::ranges::find_if_not does. All else is as for find_if.
inline constexpr core::algorithms::find_if_not_function find_if_not{};

/// adjacent_find(first, last, pred = equal_to, proj = identity), adjacent_find(range, pred, proj): returns the first element for which pred
/// holds with the next one, or the end, as std::ranges::adjacent_find does. All else is as for find_if.
inline constexpr core::algorithms::adjacent_find_function adjacent_find{};

/// find_first_of(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), find_first_of(range1, range2, pred,
/// proj1, proj2): returns the first element of the first range for which pred holds with any element of the second, or the end, as
/// std::ranges::find_first_of does. O(n * m) work at most, O(log n + log m) span. The first range may have no end. All else is as for
/// find_if.
inline constexpr core::algorithms::find_first_of_function find_first_of{};

/// search(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), search(range1, range2, pred, proj1, proj2):
/// finds where the second range, the pattern, first occurs in the first range. Returns that subrange, or the end twice, as
/// std::ranges::search does. O(n * m) work at most, O(n + m) where the pattern's first element is rare; O(log n + log m) span, for cheap
/// elements 64 more. The first range may have no end. All else is as for find_if.
inline constexpr core::algorithms::search_function search{};
/// find_end(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), find_end(range1, range2, pred, proj1,
/// proj2): finds where the pattern last occurs. Returns that subrange, or the end twice, as std::ranges::find_end does. It searches
/// backwards, so both ranges must end. All else is as for search.
inline constexpr core::algorithms::find_end_function find_end{};

}  // namespace nopal
