#pragma once

// fill, fill_n, generate, generate_n, iota: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

/// The result of iota: the end of what was written, and the next value.
template <class O, class T>
struct iota_result {
  [[no_unique_address]] O out;
  [[no_unique_address]] T value;
};

namespace core::algorithms {

/// May `value` be one of the n elements at `first`? Then threads would read it while one writes it.
template <class T, class O>
bool may_be_among(const T& value, const O& first, std::size_t n) {
  if constexpr (std::contiguous_iterator<O>) {
    constexpr std::less<const volatile void*> lies_before;
    const auto* const begin = std::to_address(first);
    const auto* const at = std::addressof(value);
    return lies_before(at, begin + n) && lies_before(begin, at + 1);
  } else {
    return std::same_as<T, std::iter_value_t<O>>;
  }
}

struct fill_function : refuses_proxies {
  using refuses_proxies::operator();

  template <class T, parallel_iterator O, std::sentinel_for<O> S>
    requires std::output_iterator<O, const T&>
  O operator()(O first, S last, const T& value) const {
    const O end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    if constexpr (std::is_copy_constructible_v<T> && !std::is_scalar_v<T>) {
      if (n > 0 && algorithms::may_be_among(value, first, n)) {
        assign_copy(first, n, value);
        return end;
      }
    }
    const value_for_stretch<T> by = value;
    assign(first, n, by);
    return end;
  }
  template <class T, std::ranges::random_access_range R>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::ranges::output_range<R, const T&>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, const T& value) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), value);
  }

 private:
  template <class O, class T>
  static void assign(const O& first, std::size_t n, const T& value) {
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::fill(algorithms::ahead(first, from), algorithms::ahead(first, to), value);
    });
  }
  template <class O, class T>
  NOPAL_COLD static void assign_copy(const O& first, std::size_t n, const T& value) {
    const T copy(value);
    assign(first, n, copy);
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

/// A number or an iterator: n steps after a value are one addition.
template <class T>
concept counts_up = std::floating_point<T> || (std::weakly_incrementable<T> && std::copyable<T> &&
                                               requires(const T& value, std::iter_difference_t<T> n) { static_cast<T>(value + n); });

struct iota_function : refuses_proxies {
  using refuses_proxies::operator();

  template <parallel_iterator O, std::sentinel_for<O> S, counts_up T>
    requires std::indirectly_writable<O, const T&>
  iota_result<O, T> operator()(O first, S last, T value) const {
    const O end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto after = [&value](std::size_t steps) {
      if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(value + static_cast<T>(steps));
      } else {
        return static_cast<T>(value + static_cast<std::iter_difference_t<T>>(steps));
      }
    };
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      const O stop = algorithms::ahead(first, to);
      O it = algorithms::ahead(first, from);
      if constexpr (std::is_floating_point_v<T>) {  // no sum of ones, whose rounding would depend on blocks
        for (; it != stop; ++it) *it = after(from++);
      } else {
        for (T next = after(from); it != stop; ++it, static_cast<void>(++next)) *it = std::as_const(next);
      }
    });
    return {end, after(n)};
  }
  template <std::ranges::random_access_range R, counts_up T>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::ranges::output_range<R, const T&>
  iota_result<std::ranges::borrowed_iterator_t<R>, T> operator()(R&& range, T value) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(value));
    return {std::move(result.out), std::move(result.value)};
  }

  /// Refuses other values, and says what can be counted.
  template <std::ranges::random_access_range R, class T>
    requires parallel_iterator<std::ranges::iterator_t<R>> && (!counts_up<T>)
  void operator()(R&&, T) const {
    say_value<T>();
  }
  template <parallel_iterator O, std::sentinel_for<O> S, class T>
    requires(!counts_up<T>)
  void operator()(O, S, T) const {
    say_value<T>();
  }

 private:
  template <class T>
  static void say_value() {
    static_assert(refused<T>,
                  "nopal: iota counts in numbers or in iterators of random access, so that value + n is the n-th after a value at once. "
                  "Write for_each over std::views::iota(0, n) for values of another kind.");
  }
};

}  // namespace core::algorithms

/// fill(first, last, value), fill(range, value): assigns `value` to each element and returns the end, as std::ranges::fill does. `value` may
/// be one of the elements if it can be copied: where it may be one, a copy of it is assigned. Throws what that copy throws, and what serial
/// execution would have thrown first. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::fill_function fill{};

/// fill_n(first, n, value): fills [first, first + n) as fill does, and nothing if n is negative. As std::ranges::fill_n.
inline constexpr core::algorithms::fill_n_function fill_n{};

/// generate(first, last, f), generate(range, f): assigns f() to each element and returns the end, as std::ranges::generate does. Several
/// threads call f at once, once for each element and in no order: it is not known which element gets which value. Throws what the call for
/// the first such element threw. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::generate_function generate{};

/// generate_n(first, n, f): assigns to [first, first + n) as generate does, and to nothing if n is negative. As std::ranges::generate_n.
inline constexpr core::algorithms::generate_n_function generate_n{};

/// iota(first, last, value), iota(range, value): assigns value, value + 1, ... and returns the end and the next value, as std::ranges::iota
/// of C++23 does. Values are numbers or random-access iterators. A floating-point element is value + n, rounded once; but n is
/// rounded before where it has more digits than the element's type, from 2^24 on for a float and from 2^53 on for a double. std::iota rounds
/// n times. Throws what serial execution would have thrown first. Off a pool also throws what default_pool() throws. O(n) work, O(log n)
/// span.
inline constexpr core::algorithms::iota_function iota{};

}  // namespace nopal
