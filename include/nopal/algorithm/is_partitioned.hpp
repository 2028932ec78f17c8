#pragma once

// nopal::is_partitioned: as std::ranges::is_partitioned, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct is_partitioned_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  bool operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const auto holds_at = [&](const I& it) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *it))); };
    const search_result other = algorithms::search(first, last, [&](std::size_t i) { return !holds_at(algorithms::ahead(first, i)); });
    if (!other.found) return true;
    const I rest = algorithms::ahead(first, other.place + 1);
    return !algorithms::search(rest, last, [&](std::size_t i) { return holds_at(algorithms::ahead(rest, i)); }).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  bool operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// is_partitioned(first, last, pred, proj = identity), is_partitioned(range, pred, proj): do all elements for which pred holds come before all others,
/// as std::ranges::is_partitioned. The predicate and the projection are called by several threads at once, for some elements twice, and for some
/// behind the first that is out of place; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws.
/// O(n) work at most, O(log n) span. A range may have no end: see find_if.
inline constexpr core::algorithms::is_partitioned_function is_partitioned{};

}  // namespace nopal
