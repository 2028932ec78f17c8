#pragma once

// equal, mismatch, lexicographical_compare: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct equal_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  bool operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    if constexpr (is_sized<I1, S1> && is_sized<I2, S2>) {
      if (algorithms::length(first1, last1) != algorithms::length(first2, last2)) return false;
    }
    const auto hit = algorithms::find_mismatch(first1, last1, first2, last2, pred, proj1, proj2);
    return !hit.found && algorithms::ends_at(first1, last1, hit.place) && algorithms::ends_at(first2, last2, hit.place);
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  bool operator()(R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(pred), std::move(proj1), std::move(proj2));
  }
};

struct mismatch_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Pred = std::ranges::equal_to, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<I1, I2, Pred, Proj1, Proj2>
  std::ranges::mismatch_result<I1, I2> operator()(I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {},
                                                  Proj2 proj2 = {}) const {
    const std::size_t place = algorithms::find_mismatch(first1, last1, first2, last2, pred, proj1, proj2).place;
    return {algorithms::ahead(first1, place), algorithms::ahead(first2, place)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Pred = std::ranges::equal_to,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_comparable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Pred, Proj1, Proj2>
  std::ranges::mismatch_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range1, R2&& range2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto result = (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                          std::move(pred), std::move(proj1), std::move(proj2));
    return {std::move(result.in1), std::move(result.in2)};
  }
};

struct lexicographical_compare_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Proj1 = std::identity, class Proj2 = std::identity,
            std::indirect_strict_weak_order<std::projected<I1, Proj1>, std::projected<I2, Proj2>> Comp = std::ranges::less>
  bool operator()(I1 first1, S1 last1, I2 first2, S2 last2, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    std::atomic<std::size_t> less{
        std::numeric_limits<std::size_t>::max()};  // the first place where the first range is known to have the lesser element
    const auto differs = [&](std::size_t place, const I1& it1, const I2& it2) {
      if (static_cast<bool>(std::invoke(comp, std::invoke(proj1, *it1), std::invoke(proj2, *it2)))) {
        algorithms::lower(less, place);
        return true;
      }
      return static_cast<bool>(std::invoke(comp, std::invoke(proj2, *it2), std::invoke(proj1, *it1)));
    };
    constexpr bool at_once =
        lie_alike<I1, I2> && compares_plainly<Comp> && std::same_as<Proj1, std::identity> && std::same_as<Proj2, std::identity>;
    const search_result hit =
        algorithms::search_two(first1, last1, first2, last2, differs_at<at_once, I1, I2, decltype(differs)>{first1, first2, differs});
    // Relaxed: the search has joined all writers.
    if (hit.found) return less.load(std::memory_order::relaxed) == hit.place;
    return algorithms::ends_at(first1, last1, hit.place) && !algorithms::ends_at(first2, last2, hit.place);
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Proj1 = std::identity,
            class Proj2 = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R1>, Proj1>,
                                            std::projected<std::ranges::iterator_t<R2>, Proj2>>
                Comp = std::ranges::less>
  bool operator()(R1&& range1, R2&& range2, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(comp), std::move(proj1), std::move(proj2));
  }
};

}  // namespace core::algorithms

/// equal(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), equal(range1, range2, pred, proj1, proj2):
/// returns whether two ranges have one length and pred holds for each element and the one at the same place, as std::ranges::equal does.
/// Several threads call pred and the projections at once, also for some elements behind the first that differ. What is thrown for those is
/// dropped; what is thrown before is rethrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n) span; equal
/// calls nothing where both lengths are known and differ. A range may have no end: see find_if. Where both have none and never differ,
/// throws std::out_of_range.
inline constexpr core::algorithms::equal_function equal{};

/// mismatch(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), mismatch(range1, range2, pred, proj1,
/// proj2): returns the first two elements at the same place for which pred does not hold, or where the shorter range ends, as
/// std::ranges::mismatch does. All else is as for equal.
inline constexpr core::algorithms::mismatch_function mismatch{};

/// lexicographical_compare(first1, last1, first2, last2, comp = less, proj1 = identity, proj2 = identity), lexicographical_compare(range1,
/// range2, comp, proj1, proj2): returns whether the first range is less: by the first elements at the same place that are not equivalent,
/// or because it is shorter. As std::ranges::lexicographical_compare. All else is as for equal, with comp for pred.
inline constexpr core::algorithms::lexicographical_compare_function lexicographical_compare{};

}  // namespace nopal
