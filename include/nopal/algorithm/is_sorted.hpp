#pragma once

// nopal::is_sorted, is_sorted_until: as std::ranges::is_sorted and is_sorted_until, in parallel.

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

template <class I, class S, class Comp, class Proj>
search_result find_descent(const I& first, const S& last, Comp& comp, Proj& proj) {
  return algorithms::search_neighbours<compares_in_rows<Comp, Proj, Proj, I, I>>(first, last, [&](const I& it) {
    return static_cast<bool>(std::invoke(comp, std::invoke(proj, *algorithms::ahead(it, 1)), std::invoke(proj, *it)));
  });
}

struct is_sorted_until_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const search_result descent = algorithms::find_descent(first, last, comp, proj);
    return algorithms::ahead(first, descent.place + (descent.found ? 1 : 0));
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct is_sorted_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  bool operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return !algorithms::find_descent(first, last, comp, proj).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  bool operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// is_sorted_until(first, last, comp = less, proj = identity), is_sorted_until(range, comp, proj): the first element that is less than the one before
/// it, or the end, as std::ranges::is_sorted_until. The comparator and the projection are called by several threads at once, and for some elements
/// behind the one that is found; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work
/// at most, O(log n) span. A range may have no end: see find_if.
inline constexpr core::algorithms::is_sorted_until_function is_sorted_until{};
/// is_sorted(first, last, comp = less, proj = identity), is_sorted(range, comp, proj): is no element less than the one before it, as
/// std::ranges::is_sorted. All else is as for is_sorted_until.
inline constexpr core::algorithms::is_sorted_function is_sorted{};

}  // namespace nopal
