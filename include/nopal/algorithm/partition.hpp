#pragma once

// partition, stable_partition, partition_copy, is_partitioned: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/partition.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

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
    using site = slow_pack<I, Pred, Proj>;
    using answer = answer_of<std::remove_const_t<decltype(holds)>>;
    if (algorithms::turns_out_slow<site>(n, [&] { static_cast<void>(holds(*plain)); }, true)) {
      cost_of<answer>.learn(cost_of<site>.ticks());
      const auto divide_slowly = [&] { middle = algorithms::partition_slowly(plain, algorithms::ahead(plain, n), holds); };
      if (n < parallel_partition) {
        divide_slowly();
      } else {
        algorithms::on_pool(divide_slowly);
      }
      cost_of<site>.learn(cost_of<answer>.ticks());
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

template <class I>
void divide_stably(I first, const kept& stay) {
  const std::size_t n = stay.cut().n;
  if (stay.count() == 0 || stay.count() == n) return;
  const auto divide = [&] {
    if constexpr (is_relocatable<I> || is_borrowable<I>) {
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

struct is_partitioned_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  bool operator()(I first, S last, Pred pred, Proj proj = {}) const {
    const auto holds_at = [&](const I& it) { return static_cast<bool>(std::invoke(pred, std::invoke(proj, *it))); };
    const search_result other = algorithms::search(first, last, [&](std::size_t i) { return !holds_at(algorithms::ahead(first, i)); });
    if (!other.found) return true;
    const I rest = algorithms::ahead(first, other.place + 1);
    return !algorithms::search(rest, last, [&](std::size_t i) { return holds_at(algorithms::ahead(rest, i)); }).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  bool operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace core::algorithms

/// partition(first, last, pred, proj = identity), partition(range, pred, proj): moves the elements for which pred holds before the others,
/// and returns the others, as std::ranges::partition does. Their order changes, and depends on the range alone, not on threads. Several
/// threads call pred and proj at once, for each element and for some again. Where these take long, they are first called for all elements
/// in parallel, with memory for a bool for each.
///
/// Throws what pred, proj and moves throw. All elements are then in the range if moves do not throw. Off a pool also throws what
/// default_pool() throws. O(n) work; O(log n) span for calls of pred that take long. For others, and for moves, O(n / 64 + log n) span;
/// O(n) for fewer than 2^17 elements, and at worst, for a pattern in the elements that fits the parts.
inline constexpr core::algorithms::partition_function partition{};

/// stable_partition(first, last, pred, proj = identity), stable_partition(range, pred, proj): moves the elements for which pred holds
/// before the others, both in their order, and returns the others, as std::ranges::stable_partition does. Several threads call pred and
/// proj at once, once for each element. Then the elements are carried to memory for as many, and back. Without that memory, or where moves
/// may throw, they are swapped. Objects in contiguous memory may be destroyed and made again by moves; through other iterators elements are
/// only moved and assigned, so they may be parts of larger objects. There, where assignments alone may throw, elements are lost if one does.
///
/// Throws what serial execution would have thrown first. What pred throws, it throws before anything is moved. Throws std::bad_alloc if
/// there is no memory for one bit for each element. Off a pool also throws what default_pool() throws. O(n) work, O(n / 1024 + log n) span;
/// by swaps O(n log n) work, O(log² n) span.
inline constexpr core::algorithms::stable_partition_function stable_partition{};

/// partition_copy(first, last, out_true, out_false, pred, proj = identity), partition_copy(range, out_true, out_false, pred, proj): copies
/// the elements for which pred holds to `out_true` and the others to `out_false`, both in their order, and returns the ends, as
/// std::ranges::partition_copy does. Both are random-access iterators whose elements are objects. Several threads call pred and proj at
/// once, once for each element.
///
/// Throws what serial execution would have thrown first. What pred throws, it throws before anything is copied. Throws std::bad_alloc if
/// there is no memory for one bit for each element. Off a pool also throws what default_pool() throws. O(n) work, O(n / 1024 + log n) span.
inline constexpr core::algorithms::partition_copy_function partition_copy{};

/// is_partitioned(first, last, pred, proj = identity), is_partitioned(range, pred, proj): returns whether all elements for which pred holds
/// come before all others, as std::ranges::is_partitioned does. Several threads call pred and proj at once, for some elements twice, and
/// for some behind the first that is out of place. What is thrown for those is dropped; what is thrown before is rethrown. Off a pool also
/// throws what default_pool() throws. O(n) work at most, O(log n) span. The range may have no end: see find_if.
inline constexpr core::algorithms::is_partitioned_function is_partitioned{};

}  // namespace nopal
