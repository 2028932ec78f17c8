#pragma once

// nopal::swap_ranges: as std::ranges::swap_ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct swap_ranges_function : refuses_proxies, refuses_second_proxies {
  using refuses_proxies::operator();
  using refuses_second_proxies::operator();

  template <parallel_iterator I1, std::sentinel_for<I1> S1, parallel_iterator I2, std::sentinel_for<I2> S2>
    requires std::indirectly_swappable<I1, I2>
  std::ranges::swap_ranges_result<I1, I2> operator()(I1 first1, S1 last1, I2 first2, S2 last2) const {
    const std::size_t n = algorithms::shorter_length(first1, last1, first2, last2);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::swap_ranges(algorithms::ahead(first1, from), algorithms::ahead(first1, to), algorithms::ahead(first2, from),
                               algorithms::ahead(first2, to));
    });
    return {algorithms::ahead(first1, n), algorithms::ahead(first2, n)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2>
    requires parallel_iterator<std::ranges::iterator_t<R1>> && parallel_iterator<std::ranges::iterator_t<R2>> &&
             std::indirectly_swappable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>
  std::ranges::swap_ranges_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range1, R2&& range2) const {
    auto result = (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2));
    return {std::move(result.in1), std::move(result.in2)};
  }
};

}  // namespace core::algorithms

/// swap_ranges(first1, last1, first2, last2), swap_ranges(range1, range2): swaps each element of a range with that of the other, up to the
/// end of the shorter, in parallel, and returns both ends, as std::ranges::swap_ranges does. The ranges do not overlap. Throws what serial
/// execution would have thrown first; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::swap_ranges_function swap_ranges{};

}  // namespace nopal
