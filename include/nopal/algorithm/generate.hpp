#pragma once

// nopal::generate, nopal::generate_n: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct generate_function : refuses_proxies {
  using refuses_proxies::operator();

  template <parallel_iterator O, std::sentinel_for<O> S, std::copy_constructible F>
    requires std::invocable<F&> && std::indirectly_writable<O, std::invoke_result_t<F&>>
  O operator()(O first, S last, F f) const {
    const O end = algorithms::end_of(first, last);
    algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      auto&& make = algorithms::for_stretch<>(f);
      const O stop = algorithms::ahead(first, to);
      for (O it = algorithms::ahead(first, from); it != stop; ++it) *it = std::invoke(make);
    });
    return end;
  }
  template <std::ranges::random_access_range R, std::copy_constructible F>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::invocable<F&> && std::ranges::output_range<R, std::invoke_result_t<F&>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, F f) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(f));
  }
};

struct generate_n_function : refuses_counted_places {
  using refuses_counted_places::operator();

  template <parallel_iterator O, std::copy_constructible F>
    requires std::invocable<F&> && std::indirectly_writable<O, std::invoke_result_t<F&>>
  O operator()(O first, std::iter_difference_t<O> n, F f) const {
    return generate_function{}(first, algorithms::counted_end(first, n), std::move(f));
  }
};

}  // namespace core::algorithms

/// generate(first, last, f), generate(range, f): assigns f() to each element, in parallel, and returns the end, as std::ranges::generate
/// does. f is called once for each element, by several threads at once, in no order: which element gets which of its values is not known.
/// Throws what the call for the first such element threw; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::generate_function generate{};

/// generate_n(first, n, f): as generate of [first, first + n), as std::ranges::generate_n does; of nothing if n is negative.
inline constexpr core::algorithms::generate_n_function generate_n{};

}  // namespace nopal
