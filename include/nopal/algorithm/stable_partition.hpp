#pragma once

// nopal::stable_partition: as std::ranges::stable_partition, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/raw_buffer.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/stable_division.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class I>
void divide_stably(I first, const kept& stay) {
  const std::size_t n = stay.cut().n;
  if (stay.count() == 0 || stay.count() == n) return;
  const auto divide = [&] {
    if constexpr (is_relocatable<std::iter_value_t<I>>) {
      const raw_buffer<std::iter_value_t<I>> room{n, std::nothrow};
      if (room.data() != nullptr) return algorithms::divide_in_room(first, stay, room.data());
    }
    algorithms::divide_in_place(first, 0, n, stay);
  };
  if (n < parallel_division) {
    divide();
  } else {
    algorithms::on_pool(divide);
  }
}

struct stable_partition_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::permutable I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
    requires parallel_iterator<I>
  std::ranges::subrange<I> operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const kept stay{static_cast<std::size_t>(end - first),
                    [&](std::size_t i) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *algorithms::ahead(first, i)))); }};
    algorithms::divide_stably(algorithms::plain_iterator(first), stay);
    return {algorithms::ahead(first, stay.count()), end};
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
    requires std::permutable<std::ranges::iterator_t<R>> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_subrange_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// stable_partition(first, last, pred, proj = identity), stable_partition(range, pred, proj): moves the elements for which pred holds
/// before the others, both in their order, and returns the others, as std::ranges::stable_partition does. The predicate is called once for
/// each element, by several threads at once, as the projection; then the elements are carried to memory for as many, and back. Without that
/// memory, or where moves may throw, they change places by swaps.
///
/// Throws what serial execution would have thrown first, before anything is moved if it is the predicate's; std::bad_alloc if there is no
/// memory for a bit for each element; off a pool also what default_pool() throws. O(n) work, O(n / 1024 + log n) span; by swaps O(n log n)
/// work, O(log² n) span.
inline constexpr core::algorithms::stable_partition_function stable_partition{};

}  // namespace nopal
