#pragma once

// transform_reduce: as reduce, of what a function makes of each element, or of each pair of two ranges. Next: core/loop/reduction.hpp.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
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

namespace core::algorithms {

/// Is it F that takes an element, and not Op?
template <class F, class Op, class X>
concept the_other_order = std::regular_invocable<F&, X> && !std::regular_invocable<Op&, X> && !std::same_as<Op, grain>;

/// Is T no second range or iterator, though it could be one (a string, a pointer), but what the elements X are reduced to?
template <class T, class Op, class F, class X>
concept reduces_to = std::regular_invocable<F&, X> && std::invocable<Op&, T, T>;

}  // namespace core::algorithms

/// op(init, f(x0), f(x1), ...), or op(init, f(x0, y0), ...) of two ranges. Everything said of reduce holds, with f(x) for an element. Two
/// ranges end with the shorter; behind an iterator there are as many elements as in the first range, or more.
struct transform_reduce_function : core::algorithms::refuses_lists, core::algorithms::refuses_second {
  using core::algorithms::refuses_lists::operator();
  using core::algorithms::refuses_second::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Op, class F>
    requires std::regular_invocable<F&, std::iter_reference_t<I>>
  T operator()(I first, S last, T init, Op op, F f, grain g = grain{0}) const {
    using difference = std::iter_difference_t<I>;
    auto each = [&](std::uint64_t k, auto use) { return core::use_result(use, f, first[static_cast<difference>(k)]); };
    return reduce<pack<I, Op, F>>(core::algorithms::length(first, last), std::move(init), op, each, g);
  }
  template <std::ranges::random_access_range R, class T, class Op, class F>
    requires std::regular_invocable<F&, std::ranges::range_reference_t<R>>
  T operator()(R&& range, T init, Op op, F f, grain g = grain{0}) const {
    return (*this)(std::ranges::begin(range), core::algorithms::end_of(range), std::move(init), std::move(op), std::move(f), g);
  }

  template <std::random_access_iterator I, std::sentinel_for<I> S, std::random_access_iterator J, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires std::regular_invocable<F&, std::iter_reference_t<I>, std::iter_reference_t<J>> &&
             (!core::algorithms::reduces_to<J, T, Op, std::iter_reference_t<I>>)
  T operator()(I first, S last, J second, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    return of_two(core::algorithms::length(first, last), first, second, std::move(init), op, f, g);
  }
  template <std::ranges::random_access_range R, std::ranges::random_access_range Q, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires std::regular_invocable<F&, std::ranges::range_reference_t<R>, std::ranges::range_reference_t<Q>> &&
             (!core::algorithms::reduces_to<std::remove_cvref_t<Q>, T, Op, std::ranges::range_reference_t<R>>)
  T operator()(R&& range, Q&& other, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    auto const first = std::ranges::begin(range);
    auto const second = std::ranges::begin(other);
    std::size_t const n = core::algorithms::shorter_length(first, core::algorithms::end_of(range), second, core::algorithms::end_of(other));
    return of_two(n, first, second, std::move(init), op, f, g);
  }

  /// No reduction: refuses transform_reduce(range, init, f, op), the order of oneTBB's parallel_reduce.
  template <std::ranges::random_access_range R, class T, class F, class Op, class... G>
    requires core::algorithms::the_other_order<F, Op, std::ranges::range_reference_t<R>>
  T operator()(R&&, T, F, Op, G...) const {
    return say_order<R, T>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class F, class Op, class... G>
    requires core::algorithms::the_other_order<F, Op, std::iter_reference_t<I>>
  T operator()(I, S, T, F, Op, G...) const {
    return say_order<I, T>();
  }

 private:
  template <class R, class T>
  static T say_order() {
    static_assert(core::algorithms::refused<R>,
                  "nopal: transform_reduce takes first the operation that joins two results, then the function that is called with each "
                  "element: transform_reduce(range, init, op, f).");
  }

  template <class...>
  struct pack {};

  template <class I, class J, class T, class Op, class F>
  static T of_two(std::size_t n, I const& first, J const& second, T init, Op& op, F& f, grain g) {
    auto each = [&](std::uint64_t k, auto use) {
      return core::use_result(use, f, first[static_cast<std::iter_difference_t<I>>(k)], second[static_cast<std::iter_difference_t<J>>(k)]);
    };
    return reduce<pack<I, J, Op, F>>(n, std::move(init), op, each, g);
  }
  template <class Site, class T, class Op, class Each>
  static T reduce(std::size_t n, T init, Op& op, Each& each, grain g) {
    return core::reduce_by_number<Site, false>(n, std::move(init), op, each, g);
  }
};
inline constexpr transform_reduce_function transform_reduce{};

}  // namespace nopal
