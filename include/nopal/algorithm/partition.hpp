#pragma once

// nopal::partition: as std::ranges::partition, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/partition_blocks.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class...>
struct slow_pack {};

struct partition_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires parallel_iterator<I>
  std::ranges::subrange<I> operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto plain = algorithms::plain_iterator(first);
    const auto holds = [&](auto&& x) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, x))); };
    auto middle = plain;
    const auto divide = [&] { middle = algorithms::partition_parallel(plain, algorithms::ahead(plain, n), holds); };
    if (algorithms::turns_out_slow<slow_pack<I, Pred, Proj>>(n, [&] { static_cast<void>(holds(*plain)); })) {
      const auto divide_slowly = [&] { middle = algorithms::partition_slowly(plain, algorithms::ahead(plain, n), holds); };
      if (n < parallel_partition) {
        divide_slowly();
      } else {
        algorithms::on_pool(divide_slowly);
      }
    } else if (n < parallel_partition) {
      divide();
    } else {
      algorithms::on_pool(divide);
    }
    return {first + (middle - plain), end};
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// partition(first, last, pred, proj = identity), partition(range, pred, proj): moves the elements for which pred holds before the others, and
/// returns the others, as std::ranges::partition does: not in their order, which depends on the range alone, not on threads. The predicate and the
/// projection are called by several threads at once, for each element and again for some. Where that takes long they are
/// called for all elements in parallel first, with memory for a place for each.
///
/// Throws what predicate, projection and moves throw; then all elements are in the range if moves do not throw. Off a pool also what
/// default_pool() throws. O(n) work; O(log n) span of predicates that take long; of others, and of
/// moves, O(n / 64 + log n), O(n) for fewer than 2^17 elements, and at worst: for a pattern in the elements that meets the parts.
inline constexpr core::algorithms::partition_function partition{};

}  // namespace nopal
