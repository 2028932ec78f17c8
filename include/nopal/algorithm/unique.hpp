#pragma once

// nopal::unique: as std::ranges::unique, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct unique_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_equivalence_relation<std::projected<I, Proj>> Comp = std::ranges::equal_to>
    requires parallel_iterator<I>
  std::ranges::subrange<I> operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) {
                      const I it = algorithms::ahead(first, i);
                      return !static_cast<bool>(std::invoke(comp, std::invoke(proj, *(it - 1)), std::invoke(proj, *it)));
                    },
                    1};
    return {algorithms::ahead(first, algorithms::close_gaps(first, stay)), end};
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_equivalence_relation<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::equal_to>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// unique(first, last, comp = equal_to, proj = identity), unique(range, comp, proj): of neighbours that are equal the first stays; those that stay
/// move to the front, in their order; returns the rest, whose values are not known, as std::ranges::unique does. The comparator, an equivalence, is
/// called once for each two neighbours, by several threads at once, as the projection.
///
/// Throws what serial execution would have thrown first, before anything is moved if it is the comparator's; std::bad_alloc if there is no memory for
/// a bit for each element; off a pool also what default_pool() throws. O(n) work; O(log n) span for the comparisons, O(n) for the moves.
inline constexpr core::algorithms::unique_function unique{};

}  // namespace nopal
