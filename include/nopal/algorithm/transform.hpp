#pragma once

// nopal::transform: as std::ranges::transform, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct transform_function : refuses_inserters, refuses_inserters_behind_two {
  using refuses_inserters::operator();
  using refuses_inserters_behind_two::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, std::copy_constructible F,
            class Proj = std::identity>
    requires std::indirectly_writable<O, std::indirect_result_t<F&, std::projected<I, Proj>>>
  std::ranges::unary_transform_result<I, O> operator()(I first, S last, O out, F f, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      auto&& call = algorithms::for_stretch<std::indirect_result_t<Proj&, I>>(f);
      const I stop = algorithms::ahead(first, to);
      O result = algorithms::ahead(out, from);
      for (I it = algorithms::ahead(first, from); it != stop; ++it, static_cast<void>(++result))
        *result = std::invoke(call, std::invoke(proj, *it));
    });
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, std::copy_constructible F, class Proj = std::identity>
    requires std::indirectly_writable<O, std::indirect_result_t<F&, std::projected<std::ranges::iterator_t<R>, Proj>>>
  std::ranges::unary_transform_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, F f, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(f), std::move(proj));
    return {std::move(result.in), std::move(result.out)};
  }

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            parallel_iterator O, std::copy_constructible F, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_writable<O, std::indirect_result_t<F&, std::projected<I1, Proj1>, std::projected<I2, Proj2>>>
  std::ranges::binary_transform_result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out, F f, Proj1 proj1 = {},
                                                             Proj2 proj2 = {}) const {
    const std::size_t n = algorithms::shorter_length(first1, last1, first2, last2);
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      auto&& call = algorithms::for_stretch<std::indirect_result_t<Proj1&, I1>, std::indirect_result_t<Proj2&, I2>>(f);
      const I1 stop = algorithms::ahead(first1, to);
      I2 other = algorithms::ahead(first2, from);
      O result = algorithms::ahead(out, from);
      for (I1 it = algorithms::ahead(first1, from); it != stop; ++it) {
        *result = std::invoke(call, std::invoke(proj1, *it), std::invoke(proj2, *other));
        ++other;
        ++result;
      }
    });
    return {algorithms::ahead(first1, n), algorithms::ahead(first2, n), algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, parallel_iterator O, std::copy_constructible F,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_writable<O, std::indirect_result_t<F&, std::projected<std::ranges::iterator_t<R1>, Proj1>,
                                                                std::projected<std::ranges::iterator_t<R2>, Proj2>>>
  std::ranges::binary_transform_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>, O> operator()(
      R1&& range1, R2&& range2, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto result = (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                          std::move(out), std::move(f), std::move(proj1), std::move(proj2));
    return {std::move(result.in1), std::move(result.in2), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// transform(first, last, out, f, proj = identity), transform(range, out, f, proj), and with two ranges: writes f of each element, or of each
/// pair, to `out`, and returns the ends, as std::ranges::transform does. `out` is an iterator of random access whose elements are objects; it may
/// be where the elements come from. Of two ranges the shorter counts; one of them may have no end. f and the projections are called by several
/// threads at once, in no order. Throws what serial execution would have thrown first; what lies behind that is not begun any more. Off a pool
/// also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::transform_function transform{};

}  // namespace nopal
