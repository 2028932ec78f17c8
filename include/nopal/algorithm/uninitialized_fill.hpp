#pragma once

// nopal::uninitialized_fill, nopal::uninitialized_default_construct, nopal::uninitialized_value_construct, and these with a number of
// elements: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>

#include "nopal/algorithm/internal/construction.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct uninitialized_fill_function : refuses_proxies {
  using refuses_proxies::operator();

  template <unmade O, std::sentinel_for<O> S, class T>
    requires std::constructible_from<std::iter_value_t<O>, const T&>
  O operator()(O first, S last, const T& value) const {
    const O end = algorithms::end_of(first, last);
    algorithms::make_each(first, static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      std::ranges::uninitialized_fill(algorithms::ahead(first, from), algorithms::ahead(first, to), value);
    });
    return end;
  }
  template <std::ranges::random_access_range R, class T>
    requires unmade<std::ranges::iterator_t<R>> && std::constructible_from<std::ranges::range_value_t<R>, const T&>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T& value) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value);
  }
};

struct uninitialized_fill_n_function : refuses_counted_places {
  using refuses_counted_places::operator();

  template <unmade O, class T>
    requires std::constructible_from<std::iter_value_t<O>, const T&>
  O operator()(O first, std::iter_difference_t<O> n, const T& value) const {
    return uninitialized_fill_function{}(first, algorithms::counted_end(first, n), value);
  }
};

struct makes_defaults {
  static constexpr auto& serially = std::ranges::uninitialized_default_construct;
};
struct makes_values {
  static constexpr auto& serially = std::ranges::uninitialized_value_construct;
};

template <class How>
struct uninitialized_construct_function : refuses_proxies {
  using refuses_proxies::operator();

  template <unmade O, std::sentinel_for<O> S>
    requires std::default_initializable<std::iter_value_t<O>>
  O operator()(O first, S last) const {
    const O end = algorithms::end_of(first, last);
    algorithms::make_each(first, static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
      How::serially(algorithms::ahead(first, from), algorithms::ahead(first, to));
    });
    return end;
  }
  template <std::ranges::random_access_range R>
    requires unmade<std::ranges::iterator_t<R>> && std::default_initializable<std::ranges::range_value_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range));
  }
};

template <class How>
struct uninitialized_construct_n_function : refuses_counted_places {
  using refuses_counted_places::operator();

  template <unmade O>
    requires std::default_initializable<std::iter_value_t<O>>
  O operator()(O first, std::iter_difference_t<O> n) const {
    return uninitialized_construct_function<How>{}(first, algorithms::counted_end(first, n));
  }
};

}  // namespace core::algorithms

/// uninitialized_fill(first, last, value), uninitialized_fill(range, value): makes copies of the value where no objects are, in parallel,
/// and returns the end, as std::ranges::uninitialized_fill does. Throws what serial execution would have thrown first, and then no object
/// is left of those that it has made; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::uninitialized_fill_function uninitialized_fill{};

/// uninitialized_fill_n(first, n, value): as uninitialized_fill of [first, first + n), as std::ranges::uninitialized_fill_n does.
inline constexpr core::algorithms::uninitialized_fill_n_function uninitialized_fill_n{};

/// uninitialized_default_construct(first, last), uninitialized_default_construct(range): as uninitialized_fill, but objects are
/// default-initialized, as by std::ranges::uninitialized_default_construct.
inline constexpr core::algorithms::uninitialized_construct_function<core::algorithms::makes_defaults> uninitialized_default_construct{};

/// uninitialized_default_construct_n(first, n): as uninitialized_default_construct of [first, first + n).
inline constexpr core::algorithms::uninitialized_construct_n_function<core::algorithms::makes_defaults> uninitialized_default_construct_n{};

/// uninitialized_value_construct(first, last), uninitialized_value_construct(range): as uninitialized_fill, but objects are
/// value-initialized, as by std::ranges::uninitialized_value_construct.
inline constexpr core::algorithms::uninitialized_construct_function<core::algorithms::makes_values> uninitialized_value_construct{};

/// uninitialized_value_construct_n(first, n): as uninitialized_value_construct of [first, first + n).
inline constexpr core::algorithms::uninitialized_construct_n_function<core::algorithms::makes_values> uninitialized_value_construct_n{};

}  // namespace nopal
