#pragma once

// nopal::partition_copy: as std::ranges::partition_copy, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct partition_copy_function : refuses_second_inserter {
  using refuses_second_inserter::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O1, parallel_iterator O2, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires std::indirectly_copyable<I, O1> && std::indirectly_copyable<I, O2>
  std::ranges::partition_copy_result<I, O1, O2> operator()(I first, S last, O1 out_true, O2 out_false, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const kept stay{n,
                    [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); }};
    algorithms::each_block(stay.cut(), [&](std::size_t block, std::size_t from, std::size_t) {
      O1 to_true = algorithms::ahead(out_true, stay.before(block));
      stay.each(block, [&](std::size_t i) {
        *to_true = *algorithms::ahead(first, i);
        ++to_true;
      });
      O2 to_false = algorithms::ahead(out_false, from - stay.before(block));
      stay.each_other(block, [&](std::size_t i) {
        *to_false = *algorithms::ahead(first, i);
        ++to_false;
      });
    });
    return {end, algorithms::ahead(out_true, stay.count()), algorithms::ahead(out_false, n - stay.count())};
  }
  template <std::ranges::random_access_range R, parallel_iterator O1, parallel_iterator O2, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O1> && std::indirectly_copyable<std::ranges::iterator_t<R>, O2>
  std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<R>, O1, O2> operator()(R&& range, O1 out_true, O2 out_false,
                                                                                             Pred pred, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out_true), std::move(out_false), std::move(pred),
                          std::move(proj));
    return {std::move(result.in), std::move(result.out1), std::move(result.out2)};
  }
};

}  // namespace core::algorithms

/// partition_copy(first, last, out_true, out_false, pred, proj = identity), partition_copy(range, out_true, out_false, pred, proj): copies
/// the elements for which pred holds to one place and the others to another one, both in their order, and returns the ends, as
/// std::ranges::partition_copy does. Both places are iterators of random access whose elements are objects. The predicate is called once
/// for each element, by several threads at once, as the projection.
///
/// Throws what serial execution would have thrown first, before anything is copied if it is the predicate's; std::bad_alloc if there is no
/// memory for a bit for each element; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::partition_copy_function partition_copy{};

}  // namespace nopal
