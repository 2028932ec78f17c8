#pragma once

// nopal::copy_if: as std::ranges::copy_if, in parallel.

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

struct copy_if_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires std::indirectly_copyable<I, O>
  std::ranges::copy_if_result<I, O> operator()(I first, S last, O out, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); }};
    algorithms::each_block(stay.cut(), [&](std::size_t block, std::size_t, std::size_t) {
      O to = algorithms::ahead(out, stay.before(block));
      stay.each(block, [&](std::size_t i) {
        *to = *algorithms::ahead(first, i);
        ++to;
      });
    });
    return {end, algorithms::ahead(out, stay.count())};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::indirectly_copyable<std::ranges::iterator_t<R>, O>
  std::ranges::copy_if_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Pred pred, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(pred), std::move(proj));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// copy_if(first, last, out, pred, proj = identity), copy_if(range, out, pred, proj): copies the elements for which pred holds, in their order, and
/// returns the ends, as std::ranges::copy_if does. `out` is an iterator of random access whose elements are objects. The predicate is called
/// once for each element, by several threads at once, as the projection.
///
/// Throws what serial execution would have thrown first, before anything is copied if it is the predicate's; std::bad_alloc if there is no memory
/// for a bit for each element; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::copy_if_function copy_if{};

}  // namespace nopal
