#pragma once

// remove, remove_if, unique: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct remove_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S, class T, class Proj = std::identity>
    requires parallel_iterator<I> && std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T*>
  std::ranges::subrange<I> operator()(I first, S last, const T& value, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) { return !static_cast<bool>(std::invoke(proj, *algorithms::ahead(first, i)) == value); }};
    return {algorithms::ahead(first, algorithms::close_gaps(first, stay)), end};
  }
  template <std::ranges::random_access_range R, class T, class Proj = std::identity>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>> &&
             std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T*>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, const T& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value, std::move(proj));
  }
};

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

/// remove(first, last, value, proj = identity), remove(range, value, proj): moves the elements whose projection does not equal `value` to
/// the front, in their order. Returns the rest, whose values are unspecified, as std::ranges::remove does. Several threads compare at once,
/// each element once and before anything is moved: so `value` may be one of the elements.
///
/// Throws what serial execution would have thrown first. What a comparison throws, it throws before anything is moved. Throws
/// std::bad_alloc if there is no memory for one bit for each element. Off a pool also throws what default_pool() throws. O(n) work; O(log
/// n) span for the comparisons, O(n) for the moves.
inline constexpr core::algorithms::remove_function remove{};

/// remove_if(first, last, pred, proj = identity), remove_if(range, pred, proj): moves the elements for which pred does not hold to the
/// front, in their order, as std::ranges::remove_if does. Several threads call pred and proj at once, once for each element. All else is as
/// for remove.
inline constexpr core::algorithms::remove_if_function remove_if{};

/// unique(first, last, comp = equal_to, proj = identity), unique(range, comp, proj): keeps the first of neighbours that are equal and moves
/// those that are kept to the front, in their order, as std::ranges::unique does. comp is an equivalence. Several threads call it and proj
/// at once, comp once for each two neighbours. All else is as for remove.
inline constexpr core::algorithms::unique_function unique{};

}  // namespace nopal
