#pragma once

// nopal::adjacent_difference: as std::adjacent_difference, for ranges too, in parallel.

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

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/made_of.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class Op, class I, class O>
concept tells_difference =
    std::constructible_from<std::iter_value_t<I>, std::iter_reference_t<I>> && std::copyable<std::iter_value_t<I>> &&
    std::invocable<Op&, const std::iter_value_t<I>&, std::iter_value_t<I>> && std::indirectly_writable<O, const std::iter_value_t<I>&> &&
    std::indirectly_writable<O, std::invoke_result_t<Op&, const std::iter_value_t<I>&, std::iter_value_t<I>>>;

/// Where no difference takes long a block has so many at least: it needs a copy of the element before it.
inline constexpr std::size_t least_difference_block = 1024;

/// By its types the costs of differences are remembered.
template <class...>
struct difference_pack {};
template <class Site>
struct difference_block {};

/// A copy of an element, which stays as it is, also where it may be moved from.
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
    const bool slow = algorithms::turns_out_slow<site>(n, [&] {
      const T second = algorithms::difference_copy(algorithms::ahead(first, 1));
      static_cast<void>(std::invoke(op, second, algorithms::difference_copy(first)));
    });
    const blocks cut = slow ? blocks{n, blocks::exactly{(n + most_blocks - 1) / most_blocks}} : blocks{n, least_difference_block};
    std::vector<std::optional<T>> lasts(cut.count);  // of each block but the last: `out` may be where the elements come from
    algorithms::loop(std::max<std::size_t>(cut.count, 1) - 1, [&](std::size_t block, std::size_t stop) {
      for (; block != stop; ++block) lasts[block].emplace(core::made_of<T>(*algorithms::ahead(first, cut.end(block) - 1)));
    });
    const auto write_block = [&](std::size_t block) {
      const bool last_is_known = block + 1 < cut.count;
      std::size_t from = cut.begin(block);
      const std::size_t to = cut.end(block);
      I it = algorithms::ahead(first, from);
      O result = algorithms::ahead(out, from);
      const bool first_is_known = block > 0 || (last_is_known && to == 1);  // each element is asked for once
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
        if (it == result) {  // in place: one iterator, so that a compiler knows
          write(it, it, [&] { ++it; });
          result = it;
        }
      }
      write(it, result, [&] { ++it, static_cast<void>(++result); });
      if (last_is_known && from < to) *result = std::invoke(op, std::as_const(*lasts[block]), std::move(before));
    };
    if (slow) cost_of<difference_block<site>>.learn(cost_of<site>.ticks() * static_cast<double>(cut.size));
    algorithms::loop_at<difference_block<site>>(cut.count, [&](std::size_t block, std::size_t stop) {
      for (; block != stop; ++block) write_block(block);
    });
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

/// adjacent_difference(first, last, out, op = minus), adjacent_difference(range, out, op): writes to `out` a copy of the first element, then for each
/// other op(it, the one before it), and returns the ends, as std::adjacent_difference does. op is called by several threads at once, with a constant
/// and a value of the elements' type. `out` is an iterator of random access whose elements are objects; it may be where the elements come from.
///
/// Throws what serial execution would have thrown first, and std::bad_alloc; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n)
/// span where differences take long, for others 1024 more.
inline constexpr core::algorithms::adjacent_difference_function adjacent_difference{};

}  // namespace nopal
