#pragma once

// transform as std::ranges::transform, and adjacent_difference as std::adjacent_difference, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/made_of.hpp"

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

template <class Op, class I, class O>
concept tells_difference =
    std::constructible_from<std::iter_value_t<I>, std::iter_reference_t<I>> && std::copyable<std::iter_value_t<I>> &&
    std::invocable<Op&, const std::iter_value_t<I>&, std::iter_value_t<I>> && std::indirectly_writable<O, const std::iter_value_t<I>&> &&
    std::indirectly_writable<O, std::invoke_result_t<Op&, const std::iter_value_t<I>&, std::iter_value_t<I>>>;

/// The least block where differences are cheap: each block needs a copy of the element before it.
inline constexpr std::size_t least_difference_block = 1024;

/// Its types identify the cost of differences that is remembered.
template <class...>
struct difference_pack {};
template <class Site>
struct difference_block {};

/// Returns a copy of an element and leaves that as it is, even if the iterator would move it.
template <class I>
std::iter_value_t<I> difference_copy(const I& it) {
  if constexpr (std::is_rvalue_reference_v<std::iter_reference_t<I>>) {
    const std::iter_value_t<I>& element = *it;
    return std::iter_value_t<I>(element);
  } else {
    return core::made_of<std::iter_value_t<I>>(*it);
  }
}

struct adjacent_difference_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Op = std::minus<>>
    requires tells_difference<Op, I, O>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, Op op = {}) const {
    using T = std::iter_value_t<I>;
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    using site = difference_pack<I, O, Op>;
    const bool slow = algorithms::turns_out_slow<site>(
        n,
        [&] {
          const T second = algorithms::difference_copy(algorithms::ahead(first, 1));
          static_cast<void>(std::invoke(op, second, algorithms::difference_copy(first)));
        },
        true);
    const blocks cut = slow ? blocks{n, blocks::exactly{(n + most_blocks - 1) / most_blocks}} : blocks{n, least_difference_block};
    std::vector<std::optional<T>> lasts(cut.count);  // the last element of each block but the last: `out` may overwrite it
    algorithms::loop(std::max<std::size_t>(cut.count, 1) - 1, [&](std::size_t block, std::size_t stop) {
      for (; block != stop; ++block) lasts[block].emplace(core::made_of<T>(*algorithms::ahead(first, cut.end(block) - 1)));
    });
    const auto write_block = [&](std::size_t block) {
      const bool last_is_known = block + 1 < cut.count;
      std::size_t from = cut.begin(block);
      const std::size_t to = cut.end(block);
      I it = algorithms::ahead(first, from);
      O result = algorithms::ahead(out, from);
      const bool first_is_known = block > 0 || (last_is_known && to == 1);  // each element is read once
      T before = first_is_known ? T(std::as_const(*lasts[std::max<std::size_t>(block, 1) - 1])) : core::made_of<T>(*it);
      if (block == 0) {
        *result = std::as_const(before);
        ++it;
        ++result;
        ++from;
      }
      auto&& minus = algorithms::for_stretch<const T&, T>(op);
      const I stop = algorithms::ahead(first, last_is_known ? std::max(from, to - 1) : to);
      const auto write = [&](I& at, auto& place, auto step) {
        while (at != stop) {
          T value = core::made_of<T>(*at);
          *place = std::invoke(minus, std::as_const(value), std::move(before));
          before = std::move(value);
          step();
        }
      };
      if constexpr (std::same_as<I, O>) {
        if (it == result) {  // in place: with one iterator, so that the compiler knows it
          write(it, it, [&] { ++it; });
          result = it;
        }
      }
      write(it, result, [&] { ++it, static_cast<void>(++result); });
      if (last_is_known && from < to) *result = std::invoke(op, std::as_const(*lasts[block]), std::move(before));
    };
    if (slow) cost_of<difference_block<site>>.learn(cost_of<site>.ticks() * static_cast<double>(cut.size));
    // The first element is copied: by itself, that is a block that says nothing about what differences cost.
    const std::size_t copies = slow && cut.size == 1 ? 1 : 0;
    if (copies > 0) write_block(0);
    algorithms::loop_at<difference_block<site>>(cut.count - copies, [&](std::size_t block, std::size_t stop) {
      for (; block != stop; ++block) write_block(copies + block);
    });
    if (slow) cost_of<site>.learn(cost_of<difference_block<site>>.ticks() / static_cast<double>(cut.size));
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Op = std::minus<>>
    requires tells_difference<Op, std::ranges::iterator_t<R>, O>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Op op = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(op));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// transform(first, last, out, f, proj = identity), transform(range, out, f, proj), and with two ranges: writes f of each element, or of
/// each pair, to `out`, and returns the ends, as std::ranges::transform does. `out` is a random-access iterator whose elements are objects;
/// it may point to the elements that are transformed. With two ranges the shorter one counts, and one may have no end. Several threads call
/// f and the projections at once, in no order. Throws what serial execution would have thrown first; calls behind that one are not begun
/// any more. Off a pool also throws what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::transform_function transform{};

/// adjacent_difference(first, last, out, op = minus), adjacent_difference(range, out, op): writes to `out` a copy of the first element,
/// then op(element, the one before it) for each other element, and returns the ends, as std::adjacent_difference does. Several threads call
/// op at once, with a constant and a value of the elements' type. `out` is a random-access iterator whose elements are objects; it may be
/// `first`.
///
/// Throws what serial execution would have thrown first. Throws std::bad_alloc. Off a pool also throws what default_pool() throws. O(n)
/// work, O(n / 1024 + log n) span where differences take long, 1024 more where they do not.
inline constexpr core::algorithms::adjacent_difference_function adjacent_difference{};

}  // namespace nopal
