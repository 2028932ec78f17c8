#pragma once

// reverse, reverse_copy, rotate, rotate_copy, swap_ranges: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// Swaps n elements from `left` on with those before `right`. A function of its own: compilers do not vectorise for two iterators that come
/// from one.
template <class I>
[[gnu::noinline]] void swap_towards(I left, I right, std::size_t n) {
  for (const I stop = algorithms::ahead(left, n); left != stop; ++left) std::ranges::iter_swap(left, --right);
}

/// Swaps the pairs [from, to) of n elements: pair i is the i-th element and the i-th from the end.
template <class I>
void swap_pairs(I first, std::size_t n, std::size_t from, std::size_t to) {
  algorithms::swap_towards(algorithms::ahead(first, from), algorithms::ahead(first, n - from), to - from);
}

/// Reverses n elements. O(n) work, O(log n) span.
template <class I>
void reverse_all(I first, std::size_t n) {
  algorithms::loop(n / 2, [first, n](std::size_t from, std::size_t to) { algorithms::swap_pairs(first, n, from, to); });
}

/// Puts the elements [left_n, n) before the others. O(n) work, O(log n) span.
template <class I>
void rotate_all(I first, std::size_t left_n, std::size_t n) {
  const I middle = algorithms::ahead(first, left_n);
  if (!could_share()) {
    std::ranges::rotate(first, middle, algorithms::ahead(first, n));
  } else if (left_n == n - left_n) {
    algorithms::loop(left_n, [first, middle](std::size_t from, std::size_t to) {
      std::ranges::swap_ranges(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(middle, from),
                               algorithms::ahead(middle, to));
    });
  } else if (left_n > 0 && left_n < n) {
    const std::size_t pairs = left_n / 2;  // both sides are reversed at once, then the whole
    algorithms::loop(pairs + (n - left_n) / 2, [=](std::size_t from, std::size_t to) {
      if (from < pairs) algorithms::swap_pairs(first, left_n, from, std::min(to, pairs));
      if (to > pairs) algorithms::swap_pairs(middle, n - left_n, std::max(from, pairs) - pairs, to - pairs);
    });
    algorithms::reverse_all(first, n);
  }
}

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
      const std::size_t wrap = std::clamp(right_n, from, to);  // from here on it copies the left side
      // No iterator is formed behind the end.
      if (wrap != from) std::ranges::copy(algorithms::ahead(middle, from), algorithms::ahead(middle, wrap), algorithms::ahead(out, from));
      if (wrap != to)
        std::ranges::copy(algorithms::ahead(first, wrap - right_n), algorithms::ahead(first, to - right_n), algorithms::ahead(out, wrap));
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

  /// Refuses places where threads cannot write at once.
  template <std::ranges::random_access_range R, no_place_for_threads O>
  auto operator()(R&&, std::ranges::iterator_t<R>, O) const {
    return refuses_inserters::say_place<O>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, no_place_for_threads O>
  auto operator()(I, I, S, O) const {
    return refuses_inserters::say_place<O>();
  }
};

struct swap_ranges_function : refuses_proxies, refuses_second_proxies {
  using refuses_proxies::operator();
  using refuses_second_proxies::operator();

  template <parallel_iterator I1, std::sentinel_for<I1> S1, parallel_iterator I2, std::sentinel_for<I2> S2>
    requires std::indirectly_swappable<I1, I2>
  std::ranges::swap_ranges_result<I1, I2> operator()(I1 first1, S1 last1, I2 first2, S2 last2) const {
    const std::size_t n = algorithms::shorter_length(first1, last1, first2, last2);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      std::ranges::swap_ranges(algorithms::ahead(first1, from), algorithms::ahead(first1, to), algorithms::ahead(first2, from),
                               algorithms::ahead(first2, to));
    });
    return {algorithms::ahead(first1, n), algorithms::ahead(first2, n)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2>
    requires parallel_iterator<std::ranges::iterator_t<R1>> && parallel_iterator<std::ranges::iterator_t<R2>> &&
             std::indirectly_swappable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>
  std::ranges::swap_ranges_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range1, R2&& range2) const {
    auto result = (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2));
    return {std::move(result.in1), std::move(result.in2)};
  }
};

}  // namespace core::algorithms

/// reverse(first, last), reverse(range): reverses the order of the elements by swaps, and returns the end, as std::ranges::reverse does.
/// Throws what the first swap that throws has thrown; all elements are then in the range if swaps lose none. Off a pool also throws what
/// default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::reverse_function reverse{};

/// reverse_copy(first, last, out), reverse_copy(range, out): copies the elements, the last one first, and returns the ends, as
/// std::ranges::reverse_copy does. `out` is a random-access iterator whose elements are objects, other than those copied. Throws
/// what serial execution would have thrown first. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::reverse_copy_function reverse_copy{};

/// rotate(first, middle, last), rotate(range, middle): moves the elements from `middle` on to the front and the others behind them, both in
/// their order, by swaps. Returns where the others are, as std::ranges::rotate does. Throws what a swap throws; all elements are then in
/// the range if swaps lose none. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::rotate_function rotate{};

/// rotate_copy(first, middle, last, out), rotate_copy(range, middle, out): copies the elements from `middle` on, then those before it, and
/// returns the ends, as std::ranges::rotate_copy does. All else is as for reverse_copy.
inline constexpr core::algorithms::rotate_copy_function rotate_copy{};

/// swap_ranges(first1, last1, first2, last2), swap_ranges(range1, range2): swaps the elements of two ranges, up to the end of the shorter
/// one, and returns both ends, as std::ranges::swap_ranges does. The ranges do not overlap. Throws what serial execution would have thrown
/// first. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::swap_ranges_function swap_ranges{};

}  // namespace nopal
