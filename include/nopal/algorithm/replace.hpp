#pragma once

// replace, replace_if, replace_copy, replace_copy_if: as those of std::ranges, in parallel.

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

struct replace_if_function : refuses_proxies {
  using refuses_proxies::operator();

  template <parallel_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires std::indirectly_writable<I, const T&>
  I operator()(I first, S last, Pred pred, const T& value, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      auto&& holds = algorithms::for_stretch<std::indirect_result_t<Proj&, I>>(pred);
      const value_for_stretch<T> by = value;
      const I stop = algorithms::ahead(first, to);
      for (I it = algorithms::ahead(first, from); it != stop; ++it) {
        if (static_cast<bool>(std::invoke(holds, std::invoke(proj, *it)))) *it = by;
      }
    });
    return end;
  }
  template <std::ranges::random_access_range R, class T, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::indirectly_writable<std::ranges::iterator_t<R>, const T&>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, const T& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), value, std::move(proj));
  }
};

struct replace_function : refuses_proxies {
  using refuses_proxies::operator();

  template <parallel_iterator I, std::sentinel_for<I> S, class T1, class T2, class Proj = std::identity>
    requires std::indirectly_writable<I, const T2&> &&
             std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T1*>
  I operator()(I first, S last, const T1& old_value, const T2& value, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      const value_for_stretch<T1> old = old_value;
      const value_for_stretch<T2> by = value;
      std::ranges::replace(algorithms::ahead(first, from), algorithms::ahead(first, to), old, by, std::ref(proj));
    });
    return end;
  }
  template <std::ranges::random_access_range R, class T1, class T2, class Proj = std::identity>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::indirectly_writable<std::ranges::iterator_t<R>, const T2&> &&
             std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T1*>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T1& old_value, const T2& value, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), old_value, value, std::move(proj));
  }
};

struct replace_copy_if_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires std::indirectly_copyable<I, O> && std::output_iterator<O, const T&>
  std::ranges::replace_copy_if_result<I, O> operator()(I first, S last, O out, Pred pred, const T& value, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      auto&& holds = algorithms::for_stretch<std::indirect_result_t<Proj&, I>>(pred);
      const value_for_stretch<T> by = value;
      const I stop = algorithms::ahead(first, to);
      O result = algorithms::ahead(out, from);
      for (I it = algorithms::ahead(first, from); it != stop; ++it, static_cast<void>(++result)) {
        if (static_cast<bool>(std::invoke(holds, std::invoke(proj, *it)))) {
          *result = by;
        } else {
          *result = *it;
        }
      }
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, class T, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O> && std::output_iterator<O, const T&>
  std::ranges::replace_copy_if_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Pred pred, const T& value,
                                                                                         Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(pred), value, std::move(proj));
    return {std::move(result.in), std::move(result.out)};
  }
};

struct replace_copy_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T1, class T2, parallel_iterator O, class Proj = std::identity>
    requires std::indirectly_copyable<I, O> && std::output_iterator<O, const T2&> &&
             std::indirect_binary_predicate<std::ranges::equal_to, std::projected<I, Proj>, const T1*>
  std::ranges::replace_copy_result<I, O> operator()(I first, S last, O out, const T1& old_value, const T2& value, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      const value_for_stretch<T1> old = old_value;
      const value_for_stretch<T2> by = value;
      std::ranges::replace_copy(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(out, from), old, by,
                                std::ref(proj));
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, class T1, class T2, parallel_iterator O, class Proj = std::identity>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O> && std::output_iterator<O, const T2&> &&
             std::indirect_binary_predicate<std::ranges::equal_to, std::projected<std::ranges::iterator_t<R>, Proj>, const T1*>
  std::ranges::replace_copy_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, const T1& old_value,
                                                                                      const T2& value, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), old_value, value, std::move(proj));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// replace(first, last, old_value, value, proj = identity), replace(range, old_value, value, proj): assigns `value` to each element whose
/// projection equals `old_value`, and returns the end, as std::ranges::replace does. Neither value is one of the elements. Several threads
/// compare elements and call proj at once. Throws what serial execution would have thrown first; calls behind that one are not begun any
/// more. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::replace_function replace{};

/// replace_if(first, last, pred, value, proj = identity), replace_if(range, pred, value, proj): as replace, for elements for which pred
/// holds.
inline constexpr core::algorithms::replace_if_function replace_if{};

/// replace_copy(first, last, out, old_value, value, proj = identity), replace_copy(range, out, old_value, value, proj): as replace, but
/// writes all elements to `out`, leaves the range as it is and returns the ends, as std::ranges::replace_copy does. `out` is a
/// random-access iterator whose elements are objects, other than those of the range.
inline constexpr core::algorithms::replace_copy_function replace_copy{};

/// replace_copy_if(first, last, out, pred, value, proj = identity), replace_copy_if(range, out, pred, value, proj): as replace_copy, for
/// elements for which pred holds.
inline constexpr core::algorithms::replace_copy_if_function replace_copy_if{};

}  // namespace nopal
