#pragma once

// nopal::copy, nopal::copy_n, nopal::move: as those of std::ranges, in parallel.

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

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct copy_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O>
    requires std::indirectly_copyable<I, O>
  std::ranges::copy_result<I, O> operator()(I first, S last, O out) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::copy(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(out, from));
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O>
  std::ranges::copy_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out));
    return {std::move(result.in), std::move(result.out)};
  }
};

struct copy_n_function : refuses_counted_inserters {
  using refuses_counted_inserters::operator();

  template <std::random_access_iterator I, parallel_iterator O>
    requires std::indirectly_copyable<I, O>
  std::ranges::copy_n_result<I, O> operator()(I first, std::iter_difference_t<I> n, O out) const {
    return copy_function{}(first, algorithms::counted_end(first, n), std::move(out));
  }
};

struct move_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O>
    requires std::indirectly_movable<I, O>
  std::ranges::move_result<I, O> operator()(I first, S last, O out) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::move(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(out, from));
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O>
    requires std::indirectly_movable<std::ranges::iterator_t<R>, O>
  std::ranges::move_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// copy(first, last, out), copy(range, out): copies the elements in parallel, and returns the ends, as std::ranges::copy does. `out` is an
/// iterator of random access whose elements are objects, and none of those copied. Throws what serial execution would have thrown first;
/// off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::copy_function copy{};

/// copy_n(first, n, out): as copy of [first, first + n), as std::ranges::copy_n does; of nothing if n is negative.
inline constexpr core::algorithms::copy_n_function copy_n{};

/// move(first, last, out), move(range, out): as copy, but each element is moved, as std::ranges::move does.
inline constexpr core::algorithms::move_function move{};

}  // namespace nopal
