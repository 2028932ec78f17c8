#pragma once

// nopal::remove_if: as std::ranges::remove_if, in parallel.

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

struct remove_if_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires parallel_iterator<I>
  std::ranges::subrange<I> operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) { return !static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); }};
    return {algorithms::ahead(first, algorithms::close_gaps(first, stay)), end};
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// remove_if(first, last, pred, proj = identity), remove_if(range, pred, proj): moves the elements for which pred does not hold to the front, in their
/// order, and returns the rest, whose values are not known, as std::ranges::remove_if does. The predicate is called once for each element, by
/// several threads at once, as the projection.
///
/// Throws what serial execution would have thrown first, before anything is moved if it is the predicate's; std::bad_alloc if there is no memory for
/// a bit for each element; off a pool also what default_pool() throws. O(n) work; O(log n) span for the predicates, O(n) for the moves.
inline constexpr core::algorithms::remove_if_function remove_if{};

}  // namespace nopal
