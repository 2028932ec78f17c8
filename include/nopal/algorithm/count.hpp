#pragma once

// count, count_if: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct count_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T*>
  std::iter_difference_t<I> operator()(I first, S last, const T& value, Proj proj = {}) const {
    std::atomic<std::size_t> sum{0};
    algorithms::loop(algorithms::length(first, last), [&](std::size_t from, std::size_t to) {
      const I stop = algorithms::ahead(first, to);
      std::size_t here = 0;
      for (I it = algorithms::ahead(first, from); it != stop; ++it) here += std::invoke(proj, *it) == value ? 1 : 0;
      // Relaxed, as the load: a sum, which the join of the loop brings to the caller.
      sum.fetch_add(here, std::memory_order::relaxed);
    });
    return static_cast<std::iter_difference_t<I>>(sum.load(std::memory_order::relaxed));
  }
  template <std::ranges::random_access_range R, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T*>
  std::ranges::range_difference_t<R> operator()(R&& range, const T& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value, std::move(proj));
  }
};

struct count_if_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  std::iter_difference_t<I> operator()(I first, S last, Pred pred, Proj proj = {}) const {
    std::atomic<std::size_t> sum{0};
    algorithms::loop(algorithms::length(first, last), [&](std::size_t from, std::size_t to) {
      const I stop = algorithms::ahead(first, to);
      std::size_t here = 0;
      for (I it = algorithms::ahead(first, from); it != stop; ++it) here += std::invoke(pred, std::invoke(proj, *it)) ? 1 : 0;
      // Relaxed, as the load: a sum, which the join of the loop brings to the caller.
      sum.fetch_add(here, std::memory_order::relaxed);
    });
    return static_cast<std::iter_difference_t<I>>(sum.load(std::memory_order::relaxed));
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  std::ranges::range_difference_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// count(first, last, value, proj = identity), count(range, value, proj): returns how many elements have a projection that equals `value`,
/// as std::ranges::count does. Several threads compare elements and call proj at once. Throws what serial execution would have thrown
/// first; calls behind that one are not begun any more. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::count_function count{};

/// count_if(first, last, pred, proj = identity), count_if(range, pred, proj): returns for how many elements pred holds, as
/// std::ranges::count_if does. All else is as for count.
inline constexpr core::algorithms::count_if_function count_if{};

}  // namespace nopal
