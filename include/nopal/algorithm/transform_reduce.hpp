#pragma once

// transform_reduce: as reduce, of what a function makes of each element, or of each pair of two ranges. Next: core/loop/reduction.hpp.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/loop/reduction.hpp"

namespace nopal::inline NOPAL_ABI {

/// op(init, f(x0), f(x1), ...), or op(init, f(x0, y0), ...) of two ranges. Everything said of reduce holds, with f(x) for an element. Of
/// two ranges the second has as many elements as the first, or more; two that say their sizes end with the shorter.
struct transform_reduce_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, class T, class Op, class F>
    requires std::regular_invocable<F&, std::iter_reference_t<I>>
  T operator()(I first, S last, T init, Op op, F f, grain g = grain{0}) const {
    using difference = std::iter_difference_t<I>;
    auto get = [&](std::uint64_t k) -> decltype(auto) { return std::invoke(f, first[static_cast<difference>(k)]); };
    return reduce<pack<I, Op, F>>(last - first, std::move(init), op, get, g);
  }
  template <std::ranges::random_access_range R, class T, class Op, class F>
    requires(std::ranges::sized_range<R> && std::regular_invocable<F&, std::ranges::range_reference_t<R>>)
  T operator()(R&& range, T init, Op op, F f, grain g = grain{0}) const {
    auto const first = std::ranges::begin(range);
    return (*this)(first, first + size_of(range), std::move(init), std::move(op), std::move(f), g);
  }

  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, std::random_access_iterator J, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires std::regular_invocable<F&, std::iter_reference_t<I>, std::iter_reference_t<J>>
  T operator()(I first, S last, J second, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    auto get = [&](std::uint64_t k) -> decltype(auto) {
      return std::invoke(f, first[static_cast<std::iter_difference_t<I>>(k)], second[static_cast<std::iter_difference_t<J>>(k)]);
    };
    return reduce<pack<I, J, Op, F>>(last - first, std::move(init), op, get, g);
  }
  template <std::ranges::random_access_range R, std::ranges::random_access_range Q, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires(std::ranges::sized_range<R> && std::ranges::sized_range<Q> &&
             std::regular_invocable<F&, std::ranges::range_reference_t<R>, std::ranges::range_reference_t<Q>>)
  T operator()(R&& range, Q&& other, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    auto const first = std::ranges::begin(range);
    auto const n = std::min<std::ptrdiff_t>(size_of(range), size_of(other));
    return (*this)(first, first + n, std::ranges::begin(other), std::move(init), std::move(op), std::move(f), g);
  }

 private:
  template <class...>
  struct pack {};

  template <class R>
  static std::ptrdiff_t size_of(R& range) {
    return static_cast<std::ptrdiff_t>(std::ranges::size(range));
  }
  template <class Site, class T, class Op, class Get>
  static T reduce(std::ptrdiff_t n, T init, Op& op, Get& get, grain g) {
    return core::reduce_by_number<Site, false>(n > 0 ? static_cast<std::uint64_t>(n) : 0, std::move(init), op, get, g);
  }
};
inline constexpr transform_reduce_function transform_reduce{};

}  // namespace nopal
