#pragma once

// nopal::min_element: as std::ranges::min_element, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct min_element_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return algorithms::best<false>(first, algorithms::length(first, last), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// min_element(first, last, comp = less, proj = identity), min_element(range, comp, proj): the first of the least elements, or the end of an empty
/// range, as std::ranges::min_element. The comparator and the projection are called by several threads at once. Throws what the first block of
/// elements that threw has thrown; off a pool also what default_pool() throws. O(n) work, O(sqrt(n) + log n) span; blocks of elements depend
/// on n alone.
inline constexpr core::algorithms::min_element_function min_element{};

}  // namespace nopal
