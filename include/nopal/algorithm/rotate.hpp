#pragma once

// nopal::rotate, nopal::rotate_copy: as those of std::ranges, in parallel.

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

struct rotate_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S>
    requires parallel_iterator<I>
  std::ranges::subrange<I> operator()(I first, I middle, S last) const {
    const I end = algorithms::end_of(first, last);
    algorithms::rotate_all(algorithms::plain_iterator(first), static_cast<std::size_t>(middle - first),
                           static_cast<std::size_t>(end - first));
    return {first + (end - middle), end};
  }
  template <std::ranges::random_access_range R>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, std::ranges::iterator_t<R> middle) const {
    return (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range));
  }
};

struct rotate_copy_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O>
    requires std::indirectly_copyable<I, O>
  std::ranges::rotate_copy_result<I, O> operator()(I first, I middle, S last, O out) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto right_n = static_cast<std::size_t>(end - middle);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      const std::size_t wrap = std::clamp(right_n, from, to);  // from here on it is the left side again
      const O left = std::ranges::copy(algorithms::ahead(middle, from), algorithms::ahead(middle, wrap), algorithms::ahead(out, from)).out;
      if (wrap != to) std::ranges::copy(algorithms::ahead(first, wrap - right_n), algorithms::ahead(first, to - right_n), left);
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O>
  std::ranges::rotate_copy_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, std::ranges::iterator_t<R> middle,
                                                                                     O out) const {
    auto result = (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range), std::move(out));
    return {std::move(result.in), std::move(result.out)};
  }

  /// To a place where threads cannot write at once.
  template <std::ranges::random_access_range R, no_place_for_threads O>
  auto operator()(R&&, std::ranges::iterator_t<R>, O) const {
    return refuses_inserters::say_place<O>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, no_place_for_threads O>
  auto operator()(I, I, S, O) const {
    return refuses_inserters::say_place<O>();
  }
};

}  // namespace core::algorithms

/// rotate(first, middle, last), rotate(range, middle): moves what lies from `middle` on to the front, and what was before behind it, both
/// in their order, by swaps; returns what was before, as std::ranges::rotate does. Throws what a swap throws; then all elements are in the
/// range if swaps lose none. Off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::rotate_function rotate{};

/// rotate_copy(first, middle, last, out), rotate_copy(range, middle, out): copies what lies from `middle` on, then what is before it, and
/// returns the ends, as std::ranges::rotate_copy does. `out` is an iterator of random access whose elements are objects, and none of those
/// copied. Throws what serial execution would have thrown first; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::rotate_copy_function rotate_copy{};

}  // namespace nopal
