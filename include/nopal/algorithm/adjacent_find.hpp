#pragma once

// nopal::adjacent_find: as std::ranges::adjacent_find, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/find_pair.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct adjacent_find_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_binary_predicate<std::projected<I, Proj>, std::projected<I, Proj>> Pred = std::ranges::equal_to>
  I operator()(I first, S last, Pred pred = {}, Proj proj = {}) const {
    const search_result hit = algorithms::search_neighbours<compares_in_rows<Pred, Proj, Proj, I, I>>(first, last, [&](const I& it) {
      return static_cast<bool>(std::invoke(pred, std::invoke(proj, *it), std::invoke(proj, *algorithms::ahead(it, 1))));
    });
    return algorithms::ahead(first, hit.place);
  }
  template <
      std::ranges::random_access_range R, class Proj = std::identity,
      std::indirect_binary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>, std::projected<std::ranges::iterator_t<R>, Proj>>
          Pred = std::ranges::equal_to>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// adjacent_find(first, last, pred = equal_to, proj = identity), adjacent_find(range, pred, proj): the first element for which pred holds with the one
/// behind it, or the end, as std::ranges::adjacent_find. The predicate and the projection are called by several threads at once, and for some elements
/// behind the one that is found; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work
/// at most, O(log n) span. A range may have no end: see find_if.
inline constexpr core::algorithms::adjacent_find_function adjacent_find{};

}  // namespace nopal
