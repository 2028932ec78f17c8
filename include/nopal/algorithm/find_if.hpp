#pragma once

// nopal::find_if, find_if_not: as std::ranges::find_if and find_if_not, in parallel.

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

struct find_if_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  I operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const search_result hit = algorithms::search(
        first, last, [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); });
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

struct find_if_not_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  I operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const search_result hit = algorithms::search(
        first, last, [&](std::size_t i) { return !static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); });
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// find_if(first, last, pred, proj = identity), find_if(range, pred, proj): the first element for which pred holds, or the end, as
/// std::ranges::find_if. The predicate and the projection are called by several threads at once, and for some elements behind the one that is
/// found; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n) span.
///
/// A range without an end, as std::views::iota(0), is searched in blocks that grow: no more elements are looked at behind the one that is found than
/// before it, and 64 at least. Throws std::out_of_range after the last whole number of a type. Of an iterator and a std::unreachable_sentinel
/// nothing is looked at behind what is found, one element after another, unless the iterator counts.
inline constexpr core::algorithms::find_if_function find_if{};
/// find_if_not(first, last, pred, proj = identity), find_if_not(range, pred, proj): the first element for which pred does not hold, or the end, as
/// std::ranges::find_if_not. All else is as for find_if.
inline constexpr core::algorithms::find_if_not_function find_if_not{};

}  // namespace nopal
