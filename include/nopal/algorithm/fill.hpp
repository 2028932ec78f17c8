#pragma once

// nopal::fill, nopal::fill_n: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct fill_function : refuses_proxies {
  using refuses_proxies::operator();

  template <class T, parallel_iterator O, std::sentinel_for<O> S>
    requires std::output_iterator<O, const T&>
  O operator()(O first, S last, const T& value) const {
    const O end = algorithms::end_of(first, last);
    algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      std::ranges::fill(algorithms::ahead(first, from), algorithms::ahead(first, to), value);
    });
    return end;
  }
  template <class T, std::ranges::random_access_range R>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::ranges::output_range<R, const T&>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T& value) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value);
  }
};

struct fill_n_function : refuses_counted_places {
  using refuses_counted_places::operator();

  template <class T, parallel_iterator O>
    requires std::output_iterator<O, const T&>
  O operator()(O first, std::iter_difference_t<O> n, const T& value) const {
    return fill_function{}(first, algorithms::counted_end(first, n), value);
  }
};

}  // namespace core::algorithms

/// fill(first, last, value), fill(range, value): assigns the value to each element, in parallel, and returns the end, as std::ranges::fill
/// does. Throws what serial execution would have thrown first; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::fill_function fill{};

/// fill_n(first, n, value): as fill of [first, first + n), as std::ranges::fill_n does; of nothing if n is negative.
inline constexpr core::algorithms::fill_n_function fill_n{};

}  // namespace nopal
