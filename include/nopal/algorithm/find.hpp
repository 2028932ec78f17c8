#pragma once

// nopal::find: as std::ranges::find, in parallel.

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

struct find_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T*>
  I operator()(I first, S last, const T& value, Proj proj = {}) const {
    const auto holds = algorithms::look_in_rows<compares_in_rows<std::equal_to<>, Proj, std::identity, I, const T*>>(
        [first, &value, &proj](std::size_t i) { return static_cast<bool>(std::invoke(proj, *algorithms::ahead(first, i)) == value); });
    const search_result hit = algorithms::search(first, last, holds);
    return algorithms::ahead(first, hit.place);
  }
  template <std::ranges::random_access_range R, class T, class Proj = std::identity>
    requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T*>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value, std::move(proj));
  }
};

}  // namespace core::algorithms

/// find(first, last, value, proj = identity), find(range, value, proj): the first element that equals the value, or the end, as
/// std::ranges::find. Elements are compared and the projection is called by several threads at once, and for some elements behind the one that
/// is found; what they throw there is dropped, else thrown. Off a pool also throws what default_pool() throws. O(n) work at most, O(log n)
/// span. A range may have no end: see find_if.
inline constexpr core::algorithms::find_function find{};

}  // namespace nopal
