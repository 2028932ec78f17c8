#pragma once

// reduce: the sum, or whatever an operation makes, of a range. Next: core/loop/reduction.hpp.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/reduction.hpp"

namespace nopal::inline NOPAL_ABI {

/// op(init, x0, x1, ...), of all elements or their projections, grouped in some way: so `op` must be associative, as for std::reduce. It
/// need not be commutative: operands keep their places, but for std::plus and its like on numbers. Calls op with two Ts, and with a T and
/// an element; a T is also made of an element alone.
///
/// The grouping depends on the number of elements and on types only: the same program gives the same bits on any number of workers, and on
/// every run. For doubles it is not that of a serial loop. grain{n} makes the leaves of the tree n elements each, and with it the
/// grouping.
///
/// Where the end can only be found by walking, as that of a text which ends with a zero, the caller walks first. Any thread may call, as
/// parallel_for. Throws what op or the projection has thrown for the first elements. Work O(n) and span O(sqrt(n)
/// + log n), of op.
struct reduce_function : core::algorithms::refuses_lists {
  using core::algorithms::refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T = std::iter_value_t<I>, class Op = std::plus<>,
            class Projection = std::identity>
    requires(!std::same_as<T, grain> && !std::same_as<Op, grain> && !std::same_as<Projection, grain>)
  T operator()(I first, S last, T init = T{}, Op op = {}, Projection projection = {}, grain g = grain{0}) const {
    constexpr bool made_of_elements = std::is_constructible_v<T, std::indirect_result_t<Projection&, I>>;
    static_assert(made_of_elements,
                  "nopal: reduce returns what `init` is, and makes it of elements too. Give an init of the result's type: reduce(v, "
                  "std::string{}) for strings; or make each element a number first, with transform_reduce.");
    if constexpr (made_of_elements) {
      using difference = std::iter_difference_t<I>;
      auto each = [&](std::uint64_t k, auto use) { return core::use_result(use, projection, first[static_cast<difference>(k)]); };
      constexpr bool cheap = std::is_same_v<Projection, std::identity> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;
      return core::reduce_by_number<pack<I, Op, Projection>, cheap>(core::algorithms::length(first, last), std::move(init), op, each, g);
    }
  }
  template <std::ranges::random_access_range R, class T = std::ranges::range_value_t<R>, class Op = std::plus<>,
            class Projection = std::identity>
    requires(!core::algorithms::ends_array<T, R> && !std::same_as<T, grain> && !std::same_as<Op, grain> && !std::same_as<Projection, grain>)
  T operator()(R&& range, T init = T{}, Op op = {}, Projection projection = {}, grain g = grain{0}) const {
    return (*this)(std::ranges::begin(range), core::algorithms::end_of(range), std::move(init), std::move(op), std::move(projection), g);
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Op>
  T operator()(I first, S last, T init, Op op, grain g) const {
    return (*this)(std::move(first), std::move(last), std::move(init), std::move(op), std::identity{}, g);
  }
  template <std::ranges::random_access_range R, class T, class Op>
    requires(!core::algorithms::ends_array<T, R>)
  T operator()(R&& range, T init, Op op, grain g) const {
    return (*this)(static_cast<R&&>(range), std::move(init), std::move(op), std::identity{}, g);
  }

 private:
  template <class...>
  struct pack {};
};
inline constexpr reduce_function reduce{};

}  // namespace nopal
