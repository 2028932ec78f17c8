#pragma once

// copy, copy_n, copy_if, move: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/loop.hpp"
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

struct copy_if_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires std::indirectly_copyable<I, O>
  std::ranges::copy_if_result<I, O> operator()(I first, S last, O out, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); }};
    algorithms::each_block(stay.cut(), [&](std::size_t block, std::size_t, std::size_t) {
      O to = algorithms::ahead(out, stay.before(block));
      stay.each(block, [&](std::size_t i) {
        *to = *algorithms::ahead(first, i);
        ++to;
      });
    });
    return {end, algorithms::ahead(out, stay.count())};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O>
  std::ranges::copy_if_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Pred pred, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(pred), std::move(proj));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// copy(first, last, out), copy(range, out): copies the elements and returns the ends, as std::ranges::copy does. `out` is a random-access
/// iterator whose elements are objects, other than those copied. Throws what serial execution would have thrown first. Off a pool
/// also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::copy_function copy{};

/// copy_n(first, n, out): copies [first, first + n) as copy does, and nothing if n is negative. As std::ranges::copy_n.
inline constexpr core::algorithms::copy_n_function copy_n{};

/// move(first, last, out), move(range, out): moves each element, as std::ranges::move does. All else is as for copy.
inline constexpr core::algorithms::move_function move{};

/// copy_if(first, last, out, pred, proj = identity), copy_if(range, out, pred, proj): copies the elements for which pred holds, in their
/// order, and returns the ends, as std::ranges::copy_if does. `out` is a random-access iterator whose elements are objects. Several threads
/// call pred and proj at once, once for each element.
///
/// Throws what serial execution would have thrown first. What pred throws, it throws before anything is copied. Throws std::bad_alloc if
/// there is no memory for one bit for each element. Off a pool also throws what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::copy_if_function copy_if{};

}  // namespace nopal
