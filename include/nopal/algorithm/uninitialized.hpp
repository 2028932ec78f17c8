#pragma once

// uninitialized_copy, uninitialized_move, uninitialized_fill, uninitialized_default_construct, uninitialized_value_construct, each
// also with _n: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
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

namespace core::algorithms {

/// Calls make(from, to) for stretches that together are [0, n): it constructs the objects at these places behind `first`, or throws and
/// leaves none. If a call throws, all other objects are destroyed. Throws as loop does. O(n) work, O(n / 1024 + log n) span.
template <class O, class Make>
void make_each(O first, std::size_t n, const Make& make) {
  if constexpr (std::is_trivially_destructible_v<std::iter_value_t<O>>) {
    algorithms::loop(n, make);
  } else {
    const blocks cut{n, blocks::exactly{std::max<std::size_t>(1, (n + most_blocks - 1) / most_blocks)}};
    std::array<bool, most_blocks> made;
    std::fill_n(made.begin(), cut.count, false);
    try {
      algorithms::each_block(cut, [&](std::size_t block, std::size_t from, std::size_t to) {
        make(from, to);
        made[block] = true;
      });
    } catch (...) {
      for (std::size_t block = 0; block < cut.count; ++block) {
        if (made[block]) std::ranges::destroy(algorithms::ahead(first, cut.begin(block)), algorithms::ahead(first, cut.end(block)));
      }
      throw;
    }
  }
}

struct makes_copies {
  template <class I, class O>
  static constexpr bool can = std::constructible_from<std::iter_value_t<O>, std::iter_reference_t<I>>;
  static constexpr auto& serially = std::ranges::uninitialized_copy;
};
struct makes_by_moves {
  template <class I, class O>
  static constexpr bool can = std::constructible_from<std::iter_value_t<O>, std::iter_rvalue_reference_t<I>>;
  static constexpr auto& serially = std::ranges::uninitialized_move;
};

template <class How>
struct uninitialized_from_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S1, unmade O, std::sentinel_for<O> S2>
    requires(How::template can<I, O>)
  std::ranges::uninitialized_copy_result<I, O> operator()(I first, S1 last, O out, S2 out_last) const {
    const std::size_t n = algorithms::shorter_length(first, last, out, out_last);
    algorithms::make_each(out, n, [&](std::size_t from, std::size_t to) {
      const I stop = algorithms::ahead(first, to);
      const O begin = algorithms::ahead(out, from);
      if constexpr (std::same_as<std::iter_difference_t<I>, std::iter_difference_t<O>>) {
        How::serially(algorithms::ahead(first, from), stop, begin, algorithms::ahead(out, to));
      } else {  // GCC 12 takes the lesser of two lengths of one type
        How::serially(algorithms::ahead(first, from), stop, begin, std::unreachable_sentinel);
      }
    });
    return {algorithms::ahead(first, n), algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2>
    requires(unmade<std::ranges::iterator_t<R2>> && How::template can<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>)
  std::ranges::uninitialized_copy_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range, R2&& out) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::ranges::begin(out), algorithms::end_of(out));
    return {std::move(result.in), std::move(result.out)};
  }
};

template <class How>
struct uninitialized_from_n_function : refuses_counted_lists {
  using refuses_counted_lists::operator();

  template <std::random_access_iterator I, unmade O, std::sentinel_for<O> S>
    requires(How::template can<I, O>)
  std::ranges::uninitialized_copy_result<I, O> operator()(I first, std::iter_difference_t<I> n, O out, S out_last) const {
    return uninitialized_from_function<How>{}(first, algorithms::counted_end(first, n), out, out_last);
  }
};

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

/// uninitialized_copy(first, last, out, out_last), uninitialized_copy(range, out): constructs copies of the elements where no objects are,
/// up to the end of the shorter range, and returns both ends, as std::ranges::uninitialized_copy does. Throws what serial execution would
/// have thrown first. None of the objects that it has made is then left. Off a pool also throws what default_pool() throws. O(n) work, O(n
/// / 1024 + log n) span.
inline constexpr core::algorithms::uninitialized_from_function<core::algorithms::makes_copies> uninitialized_copy{};

/// uninitialized_copy_n(first, n, out, out_last): copies [first, first + n) as uninitialized_copy does. As
/// std::ranges::uninitialized_copy_n.
inline constexpr core::algorithms::uninitialized_from_n_function<core::algorithms::makes_copies> uninitialized_copy_n{};

/// uninitialized_move(first, last, out, out_last), uninitialized_move(range, out): constructs objects by moves, as
/// std::ranges::uninitialized_move does. If one is not constructed, elements that were moved from stay so. All else is as for
/// uninitialized_copy.
inline constexpr core::algorithms::uninitialized_from_function<core::algorithms::makes_by_moves> uninitialized_move{};

/// uninitialized_move_n(first, n, out, out_last): moves [first, first + n) as uninitialized_move does. As
/// std::ranges::uninitialized_move_n.
inline constexpr core::algorithms::uninitialized_from_n_function<core::algorithms::makes_by_moves> uninitialized_move_n{};

/// uninitialized_fill(first, last, value), uninitialized_fill(range, value): constructs copies of `value` where no objects are, and returns
/// the end, as std::ranges::uninitialized_fill does. Throws what serial execution would have thrown first. None of the objects that it has
/// made is then left. Off a pool also throws what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::uninitialized_fill_function uninitialized_fill{};

/// uninitialized_fill_n(first, n, value): fills [first, first + n) as uninitialized_fill does. As std::ranges::uninitialized_fill_n.
inline constexpr core::algorithms::uninitialized_fill_n_function uninitialized_fill_n{};

/// uninitialized_default_construct(first, last), uninitialized_default_construct(range): as uninitialized_fill, but default-initializes
/// objects, as std::ranges::uninitialized_default_construct does.
inline constexpr core::algorithms::uninitialized_construct_function<core::algorithms::makes_defaults> uninitialized_default_construct{};

/// uninitialized_default_construct_n(first, n): as uninitialized_default_construct of [first, first + n).
inline constexpr core::algorithms::uninitialized_construct_n_function<core::algorithms::makes_defaults> uninitialized_default_construct_n{};

/// uninitialized_value_construct(first, last), uninitialized_value_construct(range): as uninitialized_fill, but value-initializes objects,
/// as std::ranges::uninitialized_value_construct does.
inline constexpr core::algorithms::uninitialized_construct_function<core::algorithms::makes_values> uninitialized_value_construct{};

/// uninitialized_value_construct_n(first, n): as uninitialized_value_construct of [first, first + n).
inline constexpr core::algorithms::uninitialized_construct_n_function<core::algorithms::makes_values> uninitialized_value_construct_n{};

}  // namespace nopal
