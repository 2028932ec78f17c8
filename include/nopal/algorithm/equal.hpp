#pragma once

// nopal::equal: as std::ranges::equal, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
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

}  // namespace core::algorithms

/// equal(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), equal(range1, range2, pred, proj1, proj2): are two
/// ranges of one length, and does pred hold for each element and the one at its place in the other, as std::ranges::equal. The predicate and the
/// projections are called by several threads at once, and for some elements behind the first that differ; what they throw there is dropped,
/// else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n) span; none where both lengths are known and differ.
/// A range may have no end: see find_if; it equals none, and where both have none and do not differ this throws std::out_of_range.
inline constexpr core::algorithms::equal_function equal{};

}  // namespace nopal
