#pragma once

// sort and nth_element by comparisons: a quicksort in place, with parallel partitions and parallel sides where there are enough elements.
// Pivots are medians of samples. Elements that equal the pivot are partitioned once. A side that is found in order is finished by
// insertion. Heapsort takes over where samples divide badly.
//
// Elements are swapped; only a few are lifted, and only cheap ones copied. So all elements are in the range if a comparator throws. What is
// swapped depends on the elements alone, never on threads. An inconsistent comparator leaves some permutation, and nothing outside the
// range is read.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <new>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/merge_sort.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/partition.hpp"
#include "nopal/algorithm/internal/small_sort.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// From so many elements on both sides of a partition may run in parallel: some 10 us of work.
inline constexpr std::size_t parallel_sort = 1024;
/// From so many elements on the pivot is a median of medians, and from so many a median of more.
inline constexpr std::size_t median_of_nine = 128;
inline constexpr std::size_t median_of_many = std::size_t{1} << 14;
inline constexpr std::size_t many = 63;
/// So few are sorted even if only one of them is wanted: another partition would take as long.
inline constexpr std::size_t few_to_select_from = 8;

/// Sorts parts of a range; one type for each kind of iterator and comparator.
template <class I, class Less>
struct quick_sort {
  using T = std::iter_value_t<I>;

  Less less;
  bool slow = false;  ///< it takes long: all is done in parallel that can be, with the same result

  /// Called by a worker if n is at least parallel_sort, or if it is slow.
  void sort(I first, std::size_t n) const { sort(first, n, false, 2 * static_cast<unsigned>(std::bit_width(n))); }

  /// Puts the k-th element in sorted order, of 0 to n - 1, at its place, lesser ones before it and greater ones behind it. Called by a
  /// worker if n is at least parallel_partition, or if it is slow.
  void select(I first, std::size_t n, std::size_t k) const {
    bool has_before = false;
    for (unsigned bad = 2 * static_cast<unsigned>(std::bit_width(n)); n > few_to_select_from; --bad) {
      if (bad == 0) return heap_sort(first, n);
      choose_pivot(first, n);
      if (has_before && !less(*(first - 1), *first)) {
        const I right = partition_equal(first, algorithms::ahead(first, n));
        const auto equal = static_cast<std::size_t>(right - first);
        if (k < equal) return;
        k -= equal;
        n -= equal;
        first = right;
        continue;
      }
      bool in_order = false;
      const I middle = partition_around(first, algorithms::ahead(first, n), in_order) - 1;
      std::ranges::iter_swap(first, middle);
      const auto left_n = static_cast<std::size_t>(middle - first);
      if (k == left_n) return;
      if (k < left_n) {
        n = left_n;
      } else {
        first = middle + 1;
        k -= left_n + 1;
        n -= left_n + 1;
        has_before = true;
      }
    }
    sort_few(first, n);
  }

 private:
  /// `has_before`: the element before `first` is not greater than any of these. `bad`: so many more partitions may divide badly.
  void sort(I first, std::size_t n, bool has_before, unsigned bad) const {
    for (;;) {
      if (n <= small_size<T>) return sort_few(first, n);
      if (bad == 0) return heap_sort(first, n);
      choose_pivot(first, n);
      if (has_before && !less(*(first - 1), *first)) {  // all that equal the pivot are the least and need no more sorting
        const I right = partition_equal(first, algorithms::ahead(first, n));
        n -= static_cast<std::size_t>(right - first);
        first = right;
        continue;
      }
      const I last = algorithms::ahead(first, n);
      bool in_order = false;
      const I middle = partition_around(first, last, in_order) - 1;
      std::ranges::iter_swap(first, middle);
      const auto left_n = static_cast<std::size_t>(middle - first);
      const std::size_t right_n = n - left_n - 1;
      if (std::min(left_n, right_n) < n / 8) {
        --bad;
        disturb(first, left_n);
        disturb(middle + 1, right_n);
      } else if (in_order && nearly_sorted(first, middle) && nearly_sorted(middle + 1, last)) {
        return;
      }
      if (n >= parallel_sort || slow) {
        nopal::parallel_invoke([=, this] { sort(first, left_n, has_before, bad); }, [=, this] { sort(middle + 1, right_n, true, bad); });
        return;
      }
      sort(first, left_n, has_before, bad);
      first = middle + 1;
      n = right_n;
      has_before = true;
    }
  }

  /// Stably, so that both ways give the same result.
  void sort_few(I first, std::size_t n) const {
    if constexpr (is_relocatable<T>) {
      if (slow && n > 4) {
        const raw_buffer<T> room{n, std::nothrow};
        if (room.data() != nullptr) return merge_sort<I, Less>{less, true, n}.sort(first, room.data(), n, false);
      }
    }
    algorithms::small_sort(first, n, less);
  }

  /// Inserts misplaced elements, unless these are more than a few; returns whether all is sorted.
  bool nearly_sorted(I first, I last) const { return first == last || algorithms::insert_each(first, first + 1, last, less, 8); }

  /// Partitions by the pivot at `first`. Returns the first element that is not less.
  I partition_around(I first, I last, bool& in_order) const {
    // Elements in place at both ends are skipped: this shows whether all are.
    return with_pivot(first, [&](auto& pivot) {
      const auto goes_left = [&](auto&& x) { return less(x, pivot); };
      const auto divide = [&in_order](auto left, auto right, const auto& goes) {
        while (left != right && goes(*left)) ++left;
        while (left != right && !goes(*(right - 1))) --right;
        in_order = left == right;
        return algorithms::partition_parallel(left, right, goes);
      };
      I middle = first;
      if (slow && algorithms::partition_answers(first + 1, static_cast<std::size_t>(last - first) - 1, goes_left, middle, divide))
        return middle;
      return divide(first + 1, last, goes_left);
    });
  }

  /// Partitions by the pivot at `first`, where nothing is less. Returns the first element that is greater.
  I partition_equal(I first, I last) const {
    return with_pivot(first, [&](auto& pivot) {
      const auto goes_left = [&](auto&& x) { return !less(pivot, x); };
      return slow ? algorithms::partition_slowly(first + 1, last, goes_left) : algorithms::partition_parallel(first + 1, last, goes_left);
    });
  }

  /// Calls f with the pivot in its place, or with a copy that can stay in a register.
  template <class F>
  NOPAL_INLINE I with_pivot(I at, const F& f) const {
    if constexpr (is_cheap<T>) {
      T pivot(std::as_const(*at));
      return f(pivot);
    } else {
      return f(*at);
    }
  }

  /// Swaps the pivot that it chooses to `first`.
  void choose_pivot(I first, std::size_t n) const {
    const std::size_t half = n / 2;
    if (n >= median_of_many) {  // many at pseudo-random places, which no pattern in the data knows
      std::array<std::size_t, many> sample;
      std::size_t state = n;
      for (std::size_t i = 0; i < many; ++i) {
        state = state * 0x5851'F42D'4C95'7F2D + 0x1405'7B7E'F767'814F;
        sample[i] = (i * (n / many)) + (state >> 32) % (n / many);
      }
      const auto by_element = [&](std::size_t a, std::size_t b) {
        return less(*algorithms::ahead(first, a), *algorithms::ahead(first, b));
      };
      if (slow) {  // stably, so that both ways give the same result
        std::array<std::size_t, many> room;
        merge_sort<std::size_t*, decltype(by_element)>{by_element, true, many}.sort(sample.data(), room.data(), many, false);
      } else {
        algorithms::insert_each(sample.data(), sample.data() + 1, sample.data() + many, by_element);
      }
      std::ranges::iter_swap(first, algorithms::ahead(first, sample[many / 2]));
      return;
    }
    if (n >= median_of_nine) {
      const std::size_t eighth = n / 8;
      const auto three_at = [=, this](std::size_t i) {
        order_three(algorithms::ahead(first, i - 1), algorithms::ahead(first, i), algorithms::ahead(first, i + 1));
      };
      if (slow) {
        nopal::parallel_invoke([=] { three_at(eighth); }, [=] { three_at(half); }, [=] { three_at(n - eighth); });
      } else {
        three_at(eighth);
        three_at(half);
        three_at(n - eighth);
      }
      order_three(algorithms::ahead(first, eighth), algorithms::ahead(first, half), algorithms::ahead(first, n - eighth));
    } else {
      order_three(first, algorithms::ahead(first, half), algorithms::ahead(first, n - 1));
    }
    std::ranges::iter_swap(first, algorithms::ahead(first, half));
  }

  void order_two(I a, I b) const {
    if (less(*b, *a)) std::ranges::iter_swap(a, b);
  }
  void order_three(I a, I b, I c) const {
    order_two(a, b);
    order_two(b, c);
    order_two(a, b);
  }

  /// Swaps a few elements: a pattern that divided badly might do so again.
  void disturb(I first, std::size_t n) const {
    if (n < median_of_nine || n >= median_of_many) return;
    const std::size_t quarter = n / 4;
    for (std::size_t i = 0; i < 3; ++i) {
      std::ranges::iter_swap(algorithms::ahead(first, i), algorithms::ahead(first, quarter + i));
      std::ranges::iter_swap(algorithms::ahead(first, n - 1 - i), algorithms::ahead(first, n - quarter - i));
    }
  }

  void heap_sort(I first, std::size_t n) const {
    for (std::size_t root = n / 2; root-- > 0;) sink(first, root, n);
    while (n-- > 1) {
      std::ranges::iter_swap(first, algorithms::ahead(first, n));
      sink(first, 0, n);
    }
  }
  void sink(I first, std::size_t root, std::size_t n) const {
    for (std::size_t child; (child = 2 * root + 1) < n; root = child) {
      if (child + 1 < n && less(*algorithms::ahead(first, child), *algorithms::ahead(first, child + 1))) ++child;
      if (!less(*algorithms::ahead(first, root), *algorithms::ahead(first, child))) return;
      std::ranges::iter_swap(algorithms::ahead(first, root), algorithms::ahead(first, child));
    }
  }
};

}  // namespace nopal::core::algorithms
