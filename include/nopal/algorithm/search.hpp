#pragma once

// nopal::search, find_end: as std::ranges::search and find_end, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/core/loop/sharing.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// By its types the costs of comparisons are remembered.
template <class...>
struct pattern_pack {};

/// Where n2 elements from first2 on come first in [first1, last1), by same(it1, it2). n2 > 0. `Plainly`: see in_rows.
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
    // Under a controlled schedule every loop is shared, however short: there only long patterns have one of their own.
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
    // By copies of the iterators: a compiler knows that no comparison changes them.
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
    // From the end, as the standard libraries do: so it ends with the last match.
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

/// search(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), search(range1, range2, pred, proj1, proj2): where the
/// elements of the second range, the pattern, first come in a row in the first range, or its end twice, as std::ranges::search. The predicate
/// and the projections are called by several threads at once, and for some elements behind those that are found; what they throw there is
/// dropped, else thrown. Off a pool also throws what default_pool() throws. O(n * m) work at most, O(n + m) where the pattern begins
/// seldom; O(log n + log m) span, for cheap elements 64 more. The first range may have no end: see find_if.
inline constexpr core::algorithms::search_function search{};
/// find_end(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), find_end(range1, range2, pred, proj1, proj2): where the
/// pattern last comes, or the end twice, as std::ranges::find_end. It looks from the end backwards; all else is as for search, but that
/// both ranges end.
inline constexpr core::algorithms::find_end_function find_end{};

}  // namespace nopal
