#pragma once

// nopal::reverse, nopal::reverse_copy: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/reversal.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct reverse_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S>
    requires parallel_iterator<I>
  I operator()(I first, S last) const {
    const I end = algorithms::end_of(first, last);
    algorithms::reverse_all(algorithms::plain_iterator(first), static_cast<std::size_t>(end - first));
    return end;
  }
  template <std::ranges::random_access_range R>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range));
  }
};

struct reverse_copy_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O>
    requires std::indirectly_copyable<I, O>
  std::ranges::reverse_copy_result<I, O> operator()(I first, S last, O out) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::reverse_copy(algorithms::behind(end, to), algorithms::behind(end, from), algorithms::ahead(out, from));
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O>
  std::ranges::reverse_copy_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// reverse(first, last), reverse(range): reverses the order of the elements by swaps, in parallel, and returns the end, as
/// std::ranges::reverse does. Throws what the first swap that throws has thrown; then all elements are in the range if swaps lose none. Off
/// a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::reverse_function reverse{};

/// reverse_copy(first, last, out), reverse_copy(range, out): copies the elements, the last one first, and returns the ends, as
/// std::ranges::reverse_copy does. `out` is an iterator of random access whose elements are objects, and none of those copied. Throws what
/// serial execution would have thrown first; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::reverse_copy_function reverse_copy{};

}  // namespace nopal
