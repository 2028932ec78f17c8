#pragma once

// nopal::uninitialized_copy, nopal::uninitialized_copy_n, nopal::uninitialized_move, nopal::uninitialized_move_n: as those of std::ranges,
// in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/construction.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

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
      } else {  // GCC 12's takes the lesser of two lengths, of one type
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

}  // namespace core::algorithms

/// uninitialized_copy(first, last, out, out_last), uninitialized_copy(range, out): makes copies of elements where no objects are, up to the
/// end of the shorter, in parallel, and returns both ends, as std::ranges::uninitialized_copy does. Throws what serial execution would have
/// thrown first, and then no object is left of those that it has made; off a pool also what default_pool() throws. O(n) work, O(n / 1024 +
/// log n) span.
inline constexpr core::algorithms::uninitialized_from_function<core::algorithms::makes_copies> uninitialized_copy{};

/// uninitialized_copy_n(first, n, out, out_last): as uninitialized_copy of [first, first + n), as std::ranges::uninitialized_copy_n does.
inline constexpr core::algorithms::uninitialized_from_n_function<core::algorithms::makes_copies> uninitialized_copy_n{};

/// uninitialized_move(first, last, out, out_last), uninitialized_move(range, out): as uninitialized_copy, but objects are made by moves, as
/// std::ranges::uninitialized_move does. If one is not made, those that were moved from stay so.
inline constexpr core::algorithms::uninitialized_from_function<core::algorithms::makes_by_moves> uninitialized_move{};

/// uninitialized_move_n(first, n, out, out_last): as uninitialized_move of [first, first + n), as std::ranges::uninitialized_move_n does.
inline constexpr core::algorithms::uninitialized_from_n_function<core::algorithms::makes_by_moves> uninitialized_move_n{};

}  // namespace nopal
