#pragma once

// sort, stable_sort, nth_element, partial_sort, partial_sort_copy, is_sorted, is_sorted_until: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/pairs.hpp"
#include "nopal/algorithm/internal/partition.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sorts.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

template <class I, class Comp, class Proj>
void sort_all(I first, std::size_t n, Comp& comp, Proj& proj) {
  if constexpr (whole_by_digits<I, Comp, Proj>) {
    where_worth_it(n, [&] { sort_whole<Comp>(first, n); });
  } else {
    const projected_less<Comp, Proj> less{comp, proj};
    const auto sort = [&](bool slow) {
      if (algorithms::was_a_run(first, n, less, slow)) return;
      if constexpr (by_digits<std::iter_value_t<I>, Comp, Proj, false> && std::is_pointer_v<I>) {
        if (n >= least_radix_sort && sort_by_digits<Comp>(first, n)) return;
      }
      quick_sort<I, projected_less<Comp, Proj>>{less, slow}.sort(first, n);
    };
    const bool slow = !by_digits<std::iter_value_t<I>, Comp, Proj, false> && algorithms::compares_slowly(first, n, less);
    where_worth_it(n, [&] { sort(slow); }, slow);
  }
}

struct sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::sort_all(algorithms::plain_iterator(first), static_cast<std::size_t>(end - first), comp, proj);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

template <class I, class Comp, class Proj>
void stable_sort_all(I first, std::size_t n, Comp& comp, Proj& proj) {
  if constexpr (whole_by_digits<I, Comp, Proj>) {
    where_worth_it(n, [&] { sort_whole<Comp>(first, n); });
  } else {
    using T = std::iter_value_t<I>;
    using less_type = projected_less<Comp, Proj>;
    const less_type less{comp, proj};
    const auto sort = [&](bool slow) {
      if (algorithms::was_a_run(first, n, less, slow)) return;
      if (n <= small_size<T> && !slow) return algorithms::small_sort(first, n, less);
      const std::size_t free = slow ? algorithms::free_for_pairs<less_type>(n) : 1;
      if constexpr (is_relocatable<I>) {
        const raw_buffer<T> room{n, std::nothrow};
        if (room.data() != nullptr) return merge_sort<I, less_type>{less, slow, n, free}.sort(first, room.data(), n, false);
      } else if constexpr (is_borrowable<I>) {
        if (algorithms::sort_in_buffer(first, n, less, slow, free)) return;
      }
      merge_sort_in_place<I, less_type>{less, slow, n, free}.sort(first, n);
    };
    const bool slow = algorithms::compares_slowly(first, n, less);
    where_worth_it(n, [&] { sort(slow); }, slow);
  }
}

struct stable_sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    algorithms::stable_sort_all(algorithms::plain_iterator(first), static_cast<std::size_t>(end - first), comp, proj);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct nth_element_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I nth, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto plain = algorithms::plain_iterator(first);
    using less = projected_less<Comp, Proj>;
    quick_sort<std::remove_const_t<decltype(plain)>, less> how{less{comp, proj}};
    const auto select = [&] { how.select(plain, n, static_cast<std::size_t>(nth - first)); };
    if (nth == end) return end;
    how.slow = algorithms::compares_slowly(plain, n, how.less);
    if (n < parallel_partition && !how.slow) {
      select();
    } else {
      algorithms::on_pool(select);
    }
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> nth, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(nth), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

/// Returns the length of the part whose k-th element bounds the others: k times the root of n / k, so that the part and what comes before
/// the bound have about the same length. 0: it would not be small.
inline std::size_t bounding_part(std::size_t k, std::size_t n) { return n >= 1024 && k <= n / 64 ? k << (std::bit_width(n / k) / 2) : 0; }

/// Puts the first k of n elements before the others, 0 < k < n. O(n) expected work.
template <class I, class Less>
void select_first(I first, std::size_t k, std::size_t n, const Less& less) {
  quick_sort<I, Less> how{less};
  how.slow = algorithms::compares_slowly(first, n, how.less);
  const auto select = [&] {
    std::size_t left = n;
    if (const std::size_t part = bounding_part(k, n); part > 0) {
      how.select(first, part, k - 1);
      const I bound = algorithms::ahead(first, k - 1);
      const auto goes_left = [&](auto&& x) { return less(x, *bound); };
      const I rest = algorithms::ahead(first, k);
      const I last = algorithms::ahead(first, n);
      left = static_cast<std::size_t>(
          (how.slow ? algorithms::partition_slowly(rest, last, goes_left) : algorithms::partition_parallel(rest, last, goes_left)) - first);
    }
    if (left > k) how.select(first, left, k);
  };
  algorithms::where_worth_it(n, select, how.slow);
}

/// Puts the first k of n elements, sorted, before the others, 0 < k < n.
template <class I, class Comp, class Proj>
void sort_first(I first, std::size_t k, std::size_t n, Comp& comp, Proj& proj) {
  if (k == 1) {
    if (const I least = algorithms::best<false>(first, n, comp, proj); least != first) std::ranges::iter_swap(first, least);
  } else if (n <= few_to_select_from) {
    algorithms::sort_all(first, n, comp, proj);  // as a selection of so few
  } else {
    algorithms::select_first(first, k, n, projected_less<Comp, Proj>{comp, proj});
    algorithms::sort_all(first, k, comp, proj);
  }
}

/// Returns the places of the first k of n elements in sorted order, 0 < k < n, and some more behind them. Throws also std::bad_alloc.
template <class I, class Less>
std::unique_ptr<std::size_t[]> places_of_first(const I& first, std::size_t k, std::size_t n, const Less& less) {
  auto by_place = [&](std::size_t a, std::size_t b) { return less(*algorithms::ahead(first, a), *algorithms::ahead(first, b)); };
  std::identity itself;
  using by = projected_less<decltype(by_place), std::identity>;
  const std::size_t part = bounding_part(k, n);
  std::size_t count = part > 0 ? part : n;
  std::unique_ptr<std::size_t[]> places{new std::size_t[count]};
  algorithms::loop(count, [to = places.get()](std::size_t i, std::size_t end) { std::iota(to + i, to + end, i); });
  if (part == 0) {
    algorithms::sort_first(places.get(), k, count, by_place, itself);
  } else {
    algorithms::select_first(places.get(), k, count, by{by_place, itself});
    const std::size_t bound = places[k];
    const kept before{n - part, [&](std::size_t i) { return by_place(part + i, bound); }};
    count = k + before.count();
    std::unique_ptr<std::size_t[]> more{new std::size_t[count]};
    std::copy_n(places.get(), k, more.get());
    algorithms::each_block(before.cut(), [&](std::size_t block, std::size_t, std::size_t) {
      std::size_t* to = more.get() + k + before.before(block);
      before.each(block, [&](std::size_t i) { *to++ = part + i; });
    });
    places = std::move(more);
    if (count > k) algorithms::select_first(places.get(), k, count, by{by_place, itself});
    algorithms::sort_all(places.get(), k, by_place, itself);
  }
  return places;
}

struct partial_sort_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I middle, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto plain = algorithms::plain_iterator(first);
    const auto k = static_cast<std::size_t>(middle - first);
    const auto n = static_cast<std::size_t>(end - first);
    if (k > 0 && k < n) {
      algorithms::sort_first(plain, k, n, comp, proj);
    } else {
      algorithms::sort_all(plain, k, comp, proj);
    }
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> middle, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct partial_sort_copy_function : refuses_lists, refuses_second_proxies {
  using refuses_lists::operator();
  using refuses_second_proxies::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_copyable<I1, I2> && std::sortable<I2, Comp, Proj2> && parallel_iterator<I2> &&
             std::indirect_strict_weak_order<Comp, std::projected<I1, Proj1>, std::projected<I2, Proj2>>
  std::ranges::partial_sort_copy_result<I1, I2> operator()(I1 first, S1 last, I2 result_first, S2 result_last, Comp comp = {},
                                                           Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const I1 end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const std::size_t k = algorithms::length_up_to(n, result_first, result_last);
    if (k == n) {
      algorithms::loop(n, [&](std::size_t from, std::size_t to) {
        std::ranges::copy(algorithms::ahead(first, from), algorithms::ahead(first, to), algorithms::ahead(result_first, from));
      });
      algorithms::sort_all(algorithms::plain_iterator(result_first), n, comp, proj2);
    } else if (k > 0) {
      const auto places = algorithms::places_of_first(first, k, n, projected_less<Comp, Proj1>{comp, proj1});
      algorithms::loop(k, [&](std::size_t from, std::size_t to) {
        for (; from != to; ++from) *algorithms::ahead(result_first, from) = *algorithms::ahead(first, places[from]);
      });
    }
    return {end, algorithms::ahead(result_first, k)};
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Comp = std::ranges::less,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::indirectly_copyable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>> &&
             std::sortable<std::ranges::iterator_t<R2>, Comp, Proj2> && parallel_iterator<std::ranges::iterator_t<R2>> &&
             std::indirect_strict_weak_order<Comp, std::projected<std::ranges::iterator_t<R1>, Proj1>,
                                             std::projected<std::ranges::iterator_t<R2>, Proj2>>
  std::ranges::partial_sort_copy_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> operator()(
      R1&& range, R2&& result, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto ends = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::ranges::begin(result), algorithms::end_of(result),
                        std::move(comp), std::move(proj1), std::move(proj2));
    return {std::move(ends.in), std::move(ends.out)};
  }
};

template <class I, class S, class Comp, class Proj>
search_result find_descent(const I& first, const S& last, Comp& comp, Proj& proj) {
  return algorithms::search_neighbours<compares_in_rows<Comp, Proj, Proj, I, I>>(first, last, [&](const I& it) {
    return static_cast<bool>(std::invoke(comp, std::invoke(proj, *algorithms::ahead(it, 1)), std::invoke(proj, *it)));
  });
}

struct is_sorted_until_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    const search_result descent = algorithms::find_descent(first, last, comp, proj);
    return algorithms::ahead(first, descent.place + (descent.found ? 1 : 0));
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct is_sorted_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  bool operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return !algorithms::find_descent(first, last, comp, proj).found;
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  bool operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// sort(first, last, comp = less, proj = identity), sort(range, comp, proj): sorts, not stably, and returns the end, as std::ranges::sort
/// does. Any thread may call it. Off a pool, 2048 elements or more, or fewer that take long to compare, are sorted on default_pool().
/// Several threads call comp and proj at once. Elements need only be movable.
///
/// Numbers in ascending or descending order are sorted by their digits, with memory for as many more if there is any. All else is sorted in
/// place by comparisons: a quicksort with parallel partitions. A range that is sorted already is only looked at, one in reverse is
/// reversed. The order of equal elements depends on the range alone, not on threads.
///
/// Throws what comp, proj and moves throw, the exception of the earliest part that threw. All elements are then in the range, in some
/// order, if moves do not throw. Off a pool also throws what default_pool() throws.
///
/// O(n log n) comparisons; O(log² n) span for random elements, with at most 64 parts of a partition at once. Numbers: O(n) work. Of up to 8
/// elements that take long to compare, all pairs may be compared at once: at most 28 comparisons and those that measure, also in all below.
inline constexpr core::algorithms::sort_function sort{};

/// stable_sort(first, last, comp = less, proj = identity), stable_sort(range, comp, proj): sorts and returns the end, as
/// std::ranges::stable_sort does: equal elements keep their order.
///
/// A merge sort with memory for as many elements again. Without that memory, or where moves may throw, it merges in place. Objects in
/// contiguous memory may be destroyed and made again by moves; through other iterators elements are only moved and assigned, so they may be
/// parts of larger objects. There, where assignments alone may throw, it takes memory for twice as many; if one throws, elements are lost.
/// Whole numbers in ascending or descending order are sorted by their digits. All else is as for sort.
///
/// O(n log n) comparisons; O(log² n) span, with at most 64 parts of a merge at once. In place: O(n log² n) moves, O(n) span.
inline constexpr core::algorithms::stable_sort_function stable_sort{};

/// nth_element(first, nth, last, comp = less, proj = identity), nth_element(range, nth, comp, proj): puts at `nth` the element that would
/// be there if the range were sorted, none that is greater before it, and none that is less behind it. Returns the end, as
/// std::ranges::nth_element does. Several threads call comp and proj at once. The order of the others depends on the range alone, not on
/// threads.
///
/// Throws what comp, proj and moves throw. All elements are then in the range if moves do not throw. Off a pool also throws what
/// default_pool() throws, for 2^17 elements or more or where comparisons take long. O(n) expected work, of many elements some n + min(k, n - k)
/// comparisons for element k, O(n log n) at worst; O(n / 64 + log² n) expected span.
inline constexpr core::algorithms::nth_element_function nth_element{};

/// partial_sort(first, middle, last, comp = less, proj = identity), partial_sort(range, middle, comp, proj): puts before `middle`, sorted,
/// the elements that would be there if the range were sorted, and returns the end, as std::ranges::partial_sort does. Several threads call
/// comp and proj at once. The order of equal elements and of the others depends on the range alone, not on threads.
///
/// Throws what comp, proj and moves throw. All elements are then in the range if moves do not throw. Off a pool also throws what
/// default_pool() throws. With k elements before `middle`: O(n + k log k) expected work, O(n log n) at worst; O(n / 64 + log² n) expected
/// span.
inline constexpr core::algorithms::partial_sort_function partial_sort{};

/// partial_sort_copy(first, last, result_first, result_last, comp = less, proj1 = identity, proj2 = identity), partial_sort_copy(range,
/// result, comp, proj1, proj2): copies to the result, sorted, the elements that would come first if the range were sorted, as many as there
/// is room for. Returns the ends, as std::ranges::partial_sort_copy does. It takes memory for a number for each element, and less if it
/// copies few of them. Throws what comp, the projections and copies throw, and std::bad_alloc. Off a pool also throws what default_pool()
/// throws. All else is as for partial_sort.
inline constexpr core::algorithms::partial_sort_copy_function partial_sort_copy{};

/// is_sorted_until(first, last, comp = less, proj = identity), is_sorted_until(range, comp, proj): returns the first element that is less
/// than the one before it, or the end, as std::ranges::is_sorted_until does. Several threads call comp and proj at once, also for some
/// elements behind the one that is found. What is thrown for those is dropped; what is thrown before is rethrown. Off a pool also throws
/// what default_pool() throws. O(n) work at most, O(log n) span. The range may have no end: see find_if.
inline constexpr core::algorithms::is_sorted_until_function is_sorted_until{};
/// is_sorted(first, last, comp = less, proj = identity), is_sorted(range, comp, proj): returns whether no element is less than the one
/// before it, as std::ranges::is_sorted does. All else is as for is_sorted_until.
inline constexpr core::algorithms::is_sorted_function is_sorted{};

}  // namespace nopal
