#pragma once

// all_of, any_of, none_of: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct all_of_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  bool operator()(I first, S last, Pred pred, Proj proj = {}) const {
    return !algorithms::search(first, last, [&](std::size_t i) {
              return !static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i))));
            }).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  bool operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

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

struct none_of_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  bool operator()(I first, S last, Pred pred, Proj proj = {}) const {
    return !algorithms::search(first, last, [&](std::size_t i) {
              return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i))));
            }).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  bool operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// all_of(first, last, pred, proj = identity), all_of(range, pred, proj): returns whether pred holds for every element, as
/// std::ranges::all_of does. Several threads call pred and proj at once, also for some elements behind the first one that decides the
/// answer. What is thrown for those is dropped; what is thrown before is rethrown. Off a pool also throws what default_pool() throws. O(n)
/// work at most, O(log n) span. The range may have no end: see find_if.
inline constexpr core::algorithms::all_of_function all_of{};

/// any_of(first, last, pred, proj = identity), any_of(range, pred, proj): returns whether pred holds for some element, as
/// std::ranges::any_of does. All else is as for all_of.
inline constexpr core::algorithms::any_of_function any_of{};

/// none_of(first, last, pred, proj = identity), none_of(range, pred, proj): returns whether pred holds for no element, as
/// std::ranges::none_of does. All else is as for all_of.
inline constexpr core::algorithms::none_of_function none_of{};

}  // namespace nopal
