#pragma once

// nopal::mismatch: as std::ranges::mismatch, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

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

}  // namespace core::algorithms

/// mismatch(first1, last1, first2, last2, pred = equal_to, proj1 = identity, proj2 = identity), mismatch(range1, range2, pred, proj1, proj2): the first
/// two elements at the same place for which pred does not hold, or where the shorter range ends, as std::ranges::mismatch. The predicate and
/// the projections are called by several threads at once, and for some elements behind those that are found; what they throw there is dropped,
/// else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n) span. A range may have no end: see find_if.
inline constexpr core::algorithms::mismatch_function mismatch{};

}  // namespace nopal
