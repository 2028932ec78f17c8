#pragma once

// for_each, for_each_n: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
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

struct for_each_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirectly_unary_invocable<std::projected<I, Proj>> F>
  std::ranges::for_each_result<I, F> operator()(I first, S last, F f, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      auto&& call = algorithms::for_stretch<std::indirect_result_t<Proj&, I>>(f);
      const I stop = algorithms::ahead(first, to);
      for (I it = algorithms::ahead(first, from); it != stop; ++it) static_cast<void>(std::invoke(call, std::invoke(proj, *it)));
    });
    return {end, std::move(f)};
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirectly_unary_invocable<std::projected<std::ranges::iterator_t<R>, Proj>> F>
  std::ranges::for_each_result<std::ranges::borrowed_iterator_t<R>, F> operator()(R&& range, F f, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(f), std::move(proj));
    return {std::move(result.in), std::move(result.fun)};
  }
};

struct for_each_n_function : refuses_counted_lists {
  using refuses_counted_lists::operator();

  template <std::random_access_iterator I, class Proj = std::identity, std::indirectly_unary_invocable<std::projected<I, Proj>> F>
  std::ranges::for_each_n_result<I, F> operator()(I first, std::iter_difference_t<I> n, F f, Proj proj = {}) const {
    auto result = for_each_function{}(first, algorithms::counted_end(first, n), std::move(f), std::move(proj));
    return {std::move(result.in), std::move(result.fun)};
  }
};

}  // namespace core::algorithms

/// for_each(first, last, f, proj = identity), for_each(range, f, proj): calls f with each element, and returns the end and f, as
/// std::ranges::for_each does. Several threads call f and proj at once, in no order. Throws what serial execution would have thrown first;
/// calls behind that one are not begun any more. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::for_each_function for_each{};

/// for_each_n(first, n, f, proj = identity): calls f for [first, first + n) as for_each does, and for nothing if n is negative. As
/// std::ranges::for_each_n.
inline constexpr core::algorithms::for_each_n_function for_each_n{};

}  // namespace nopal
