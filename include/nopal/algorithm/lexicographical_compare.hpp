#pragma once

// nopal::lexicographical_compare: as std::ranges::lexicographical_compare, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct lexicographical_compare_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Proj1 = std::identity, class Proj2 = std::identity,
            std::indirect_strict_weak_order<std::projected<I1, Proj1>, std::projected<I2, Proj2>> Comp = std::ranges::less>
  bool operator()(I1 first1, S1 last1, I2 first2, S2 last2, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    std::atomic<std::size_t> less{
        std::numeric_limits<std::size_t>::max()};  // the first place where the first range's element is known to be less
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
    // Relaxed: the search has joined all that wrote.
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

/// lexicographical_compare(first1, last1, first2, last2, comp = less, proj1 = identity, proj2 = identity), lexicographical_compare(range1, range2, comp,
/// proj1, proj2): is the first range less, by the first elements at the same place that are not equivalent, or as the shorter, as
/// std::ranges::lexicographical_compare. The comparator and the projections are called by several threads at once, and for some elements behind
/// those that decide; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log
/// n) span. A range may have no end: see find_if; where both have none and do not differ this throws std::out_of_range.
inline constexpr core::algorithms::lexicographical_compare_function lexicographical_compare{};

}  // namespace nopal
