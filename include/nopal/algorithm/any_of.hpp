#pragma once

// nopal::any_of: as std::ranges::any_of, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct any_of_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  bool operator()(I first, S last, Pred pred, Proj proj = {}) const {
    return algorithms::search(
               first, last,
               [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); })
        .found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  bool operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// any_of(first, last, pred, proj = identity), any_of(range, pred, proj): does pred hold for some element? As std::ranges::any_of. The predicate
/// and the projection are called by several threads at once, and for some elements behind the first for which it holds; what they throw there is
/// dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n) span.
/// A range may have no end: see find_if.
inline constexpr core::algorithms::any_of_function any_of{};

}  // namespace nopal
