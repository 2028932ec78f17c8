#pragma once

// nopal::merge: as std::ranges::merge, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/order.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// A block of a merge finds by two binary searches where it begins and ends: it is worth that.
inline constexpr std::size_t least_merge_block = 1024;

struct merge_function {
  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            parallel_iterator O, class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<I1, I2, O, Comp, Proj1, Proj2>
  std::ranges::merge_result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out, Comp comp = {}, Proj1 proj1 = {},
                                                  Proj2 proj2 = {}) const {
    const auto n1 = static_cast<std::size_t>(std::ranges::distance(first1, last1));
    const auto n2 = static_cast<std::size_t>(std::ranges::distance(first2, last2));
    const auto is_before = [&](auto&& of_second, auto&& of_first) {
      return static_cast<bool>(std::invoke(comp, std::invoke(proj2, static_cast<decltype(of_second)>(of_second)),
                                           std::invoke(proj1, static_cast<decltype(of_first)>(of_first))));
    };
    algorithms::each_block(blocks{n1 + n2, least_merge_block}, [&](std::size_t, std::size_t from, std::size_t to) {
      const std::size_t begin = algorithms::from_left_of_first(from, first1, n1, first2, n2, is_before);
      // Clamped: ranges that are not sorted may contradict themselves.
      const std::size_t end = std::clamp(algorithms::from_left_of_first(to, first1, n1, first2, n2, is_before), begin, begin + (to - from));
      std::ranges::merge(algorithms::ahead(first1, begin), algorithms::ahead(first1, end), algorithms::ahead(first2, from - begin),
                         algorithms::ahead(first2, to - end), algorithms::ahead(out, from), std::ref(comp), std::ref(proj1),
                         std::ref(proj2));
    });
    return {algorithms::ahead(first1, n1), algorithms::ahead(first2, n2), algorithms::ahead(out, n1 + n2)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, parallel_iterator O, class Comp = std::ranges::less,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, O, Comp, Proj1, Proj2>
  std::ranges::merge_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>, O> operator()(
      R1&& range1, R2&& range2, O out, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto result = (*this)(std::ranges::begin(range1), std::ranges::end(range1), std::ranges::begin(range2), std::ranges::end(range2),
                          std::move(out), std::move(comp), std::move(proj1), std::move(proj2));
    return {std::move(result.in1), std::move(result.in2), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// merge(first1, last1, first2, last2, out, comp = less, proj1 = identity, proj2 = identity), merge(range1, range2, out, comp, proj1, proj2): copies two
/// sorted ranges into one, equal elements of the first range first, and returns the ends, as std::ranges::merge does. `out` is an iterator of
/// random access whose elements are objects, and none of those merged. The comparator and the projections are called by several threads at once.
///
/// Throws what the first block that threw has thrown; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::merge_function merge{};

}  // namespace nopal
