#pragma once

// nopal::remove: as std::ranges::remove, in parallel.

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

}  // namespace core::algorithms

/// remove(first, last, value, proj = identity), remove(range, value, proj): moves the elements whose projection does not equal the value to
/// the front, in their order, and returns the rest, whose values are not known, as std::ranges::remove does. Each element is compared once,
/// by several threads at once, before anything is moved: so the value may be one of them.
///
/// Throws what serial execution would have thrown first, before anything is moved if it is a comparison's; std::bad_alloc if there is no
/// memory for a bit for each element; off a pool also what default_pool() throws. O(n) work; O(log n) span for the comparisons, O(n) for
/// the moves.
inline constexpr core::algorithms::remove_function remove{};

}  // namespace nopal
