#pragma once

// The sorts: of a few elements, by merges, in place, and by digits; and what they share.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/pairs.hpp"
#include "nopal/algorithm/internal/partition.hpp"
#include "nopal/algorithm/reverse.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

// Serial, stable sorts of a few elements, in which all sorts end. If the comparator throws or is inconsistent, all elements are still in
// the range, and nothing outside it is read or written.

/// small_sort sorts at most so many elements.
template <class T>
inline constexpr std::size_t small_size = is_cheap<T> ? 32 : 20;

/// An element that was moved out of its place. The destructor moves it to wherever the hole is then.
template <class I>
struct lifted {
  I hole;
  std::iter_value_t<I> value;
  explicit lifted(I it) : hole{it}, value(std::ranges::iter_move(it)) {}
  ~lifted() { *hole = static_cast<std::iter_value_t<I>&&>(value); }
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  NOPAL_INLINE void move_left() {
    I left = hole - 1;
    *hole = std::ranges::iter_move(left);
    hole = left;
  }
};

/// Sorts [first, last), of which [first, next) is sorted: O(n²), and O(n) where few elements are misplaced. Gives up and returns false
/// after more than `most` elements had to be moved.
template <class I, class Less>
bool insert_each(I first, I next, I last, const Less& less, std::size_t most = ~std::size_t{0}) {
  using T = std::iter_value_t<I>;
  for (; next != last; ++next) {
    if (next == first || !less(*next, *(next - 1))) continue;
    if (most-- == 0) return false;
    if constexpr (std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>) {
      lifted<I> one{next};
      do one.move_left();
      while (one.hole != first && less(one.value, *(one.hole - 1)));
    } else {
      I it = next;
      do {
        std::ranges::iter_swap(it - 1, it);
        --it;
      } while (it != first && less(*it, *(it - 1)));
    }
  }
  return true;
}

/// Sorts up to four elements from `from` into `to`, without branches.
template <class T, class Less>
NOPAL_INLINE void sort_up_to_four(T* from, T* to, std::size_t n, const Less& less) {
  if (n == 4) {
    const bool swap_low = less(from[1], from[0]);
    const bool swap_high = less(from[3], from[2]);
    T* const a = from + (swap_low ? 1 : 0);
    T* const b = from + (swap_low ? 0 : 1);  // a, b is in order
    T* const c = from + (swap_high ? 3 : 2);
    T* const d = from + (swap_high ? 2 : 3);  // c, d too
    const bool c_first = less(*c, *a);
    const bool b_last = less(*d, *b);
    T* const x = c_first ? a : b_last ? c : b;  // the two in the middle, the earlier one first
    T* const y = b_last ? d : c_first ? b : c;
    const bool swap_middle = less(*y, *x);
    algorithms::copy_to(to, c_first ? *c : *a);
    algorithms::copy_to(to + 1, swap_middle ? *y : *x);
    algorithms::copy_to(to + 2, swap_middle ? *x : *y);
    algorithms::copy_to(to + 3, b_last ? *b : *d);
  } else if (n == 3) {
    const bool swap_low = less(from[1], from[0]);
    T* const a = from + (swap_low ? 1 : 0);
    T* const b = from + (swap_low ? 0 : 1);
    const bool before_b = less(from[2], *b);
    T* const c = before_b ? from + 2 : b;
    const bool before_a = less(*c, *a);
    algorithms::copy_to(to, before_a ? *c : *a);
    algorithms::copy_to(to + 1, before_a ? *a : *c);
    algorithms::copy_to(to + 2, before_b ? *b : from[2]);
  } else if (n == 2) {
    const bool swap = less(from[1], from[0]);
    algorithms::copy_to(to, from[swap ? 1 : 0]);
    algorithms::copy_to(to + 1, from[swap ? 0 : 1]);
  } else if (n == 1) {
    algorithms::copy_to(to, *from);
  }
}

/// Merges the two sorted halves of n elements into `to`, from both ends at once and without branches. The first half is not the longer one,
/// so neither end can exhaust a half before the halves meet. Destructors of copies do not matter: copies are constructed over what was
/// there. From: a pointer, but for a test.
template <class From, class T, class Less>
NOPAL_INLINE void merge_halves(From from, T* to, std::size_t n, const Less& less) {
  const std::size_t half = n / 2;
  From left = from;
  From right = algorithms::ahead(from, half);
  From left_end = right;
  From right_end = algorithms::ahead(from, n);
  for (std::size_t i = 0; i < half; ++i) {
    const bool take_right = less(*right, *left);
    algorithms::copy_to(to + i, take_right ? *right : *left);
    right += take_right ? 1 : 0;
    left += take_right ? 0 : 1;
    const bool take_left = less(*(right_end - 1), *(left_end - 1));
    algorithms::copy_to(to + (n - 1 - i), take_left ? *(left_end - 1) : *(right_end - 1));
    left_end -= take_left ? 1 : 0;
    right_end -= take_left ? 0 : 1;
  }
  if (n % 2 != 0) {
    const bool take_left = left < left_end;
    algorithms::copy_to(to + half, take_left ? *left : *right);
    left += take_left ? 1 : 0;
    right += take_left ? 0 : 1;
  }
  if (left == left_end && right == right_end) [[likely]]
    return;
  // The ends did not meet: the comparator is inconsistent.
  for (std::size_t i = 0; i < n; ++i) algorithms::copy_to(to + i, *algorithms::ahead(from, i));
}

/// Sorts `from` into `to`, with as much room beside it. `from` keeps its elements.
template <class T, class Less>
void sort_into(T* from, T* to, T* room, std::size_t n, const Less& less) {
  if (n <= 4) return algorithms::sort_up_to_four(from, to, n, less);
  const std::size_t half = n / 2;
  algorithms::sort_into(from, room, to, half, less);
  algorithms::sort_into(from + half, room + half, to + half, n - half, less);
  algorithms::merge_halves(room, to, n, less);
}

/// Sorts at most small_size elements.
template <class T, class Less>
void small_sort_of_cheap(T* first, std::size_t n, const Less& less) {
  alignas(T) std::byte bytes[2][small_size<T> * sizeof(T)];  // no objects: T need not have a default
  T* const sorted = reinterpret_cast<T*>(bytes[0]);
  T* const room = reinterpret_cast<T*>(bytes[1]);
  if (n < 2) return;
  if (n <= 4) {
    algorithms::sort_up_to_four(first, sorted, n, less);
    for (std::size_t i = 0; i < n; ++i) algorithms::copy_to(first + i, sorted[i]);
    return;
  }
  const std::size_t half = n / 2;
  algorithms::sort_into(first, sorted, room, half, less);
  algorithms::sort_into(first + half, sorted + half, room + half, n - half, less);
  struct restores {  // restores what the merge has not written, or has written twice
    T* sorted;
    T* first;
    std::size_t n;
    ~restores() {
      for (std::size_t i = 0; i < n; ++i) algorithms::copy_to(first + i, sorted[i]);
    }
  } undo{sorted, first, n};
  algorithms::merge_halves(sorted, first, n, less);
  undo.n = 0;
}

/// Sorts at most small_size elements.
template <class I, class Less>
void small_sort(I first, std::size_t n, const Less& less) {
  using T = std::iter_value_t<I>;
  if constexpr (is_cheap<T> && std::is_pointer_v<I>) {
    algorithms::small_sort_of_cheap<T>(first, n, less);
  } else {
    if (n > 1) algorithms::insert_each(first, first + 1, first + static_cast<std::iter_difference_t<I>>(n), less);
  }
}

// stable_sort by comparisons: a merge sort between the range and a buffer, with parallel halves and parallel merges; and one in place,
// which merges by rotations. In both, all elements are in the range if the comparator throws.

/// From so many elements on both halves may be sorted in parallel: some 10 us of work.
inline constexpr std::size_t parallel_merge_sort = 1024;

/// May parts of n elements be sorted in parallel, from `least` on? Off a pool the caller has few elements, and sorts them alone: a fork would
/// make the default pool.
inline bool may_sort_in_parallel(std::size_t n, std::size_t least) { return n >= least && core::current_or_null() != nullptr; }

template <class I, class Less>
struct merge_sort {
  using T = std::iter_value_t<I>;
  static_assert(is_relocatable<I>);

  Less less;
  bool slow = false;     ///< it takes long: all is done in parallel that can be
  std::size_t all = 0;   ///< then: elements, those of all calls of sort
  std::size_t free = 1;  ///< then: workers that were free when the first of these calls began

  /// Sorts the n elements at `at`, into `room` or in place. If it throws, they are where they were to be, in some order. The other place has
  /// what relocate leaves: no objects, or moved ones. Called by a worker if n is at least sorted_alone, or if it is slow.
  void sort(I at, T* room, std::size_t n, bool to_room) const {
    if (is_few(n)) return sort_few(at, room, n, to_room);
    const std::size_t half = n / 2;
    bool right_begun = false;
    const auto left = [&] { sort(at, room, half, !to_room); };
    const auto right = [&] {
      right_begun = true;
      sort(algorithms::ahead(at, half), room + half, n - half, !to_room);
    };
    try {
      if (slow || algorithms::may_sort_in_parallel(n, parallel_merge_sort)) {
        nopal::parallel_invoke(left, right);  // by a worker, so that the left half is begun whatever happens
      } else {
        left();
        right();
      }
    } catch (...) {
      bring(at, room, half, !to_room, to_room);
      bring(algorithms::ahead(at, half), room + half, n - half, right_begun && !to_room, to_room);
      throw;
    }
    if (to_room) {
      merge(at, room, half, n);
    } else {
      merge(room, at, half, n);
    }
  }

 private:
  void sort_few(I at, T* room, std::size_t n, bool to_room) const {
    struct brings {
      I at;
      T* room;
      std::size_t n;
      bool to_room;
      ~brings() { bring(at, room, n, false, to_room); }
    } const at_the_end{at, room, n, to_room};
    if (slow && algorithms::sorts_by_pairs<Less>(n, share_of_free(n))) return algorithms::sort_by_pairs(at, n, less);
    algorithms::small_sort(at, n, less);
  }

  bool is_few(std::size_t n) const {
    if (!slow) return n <= small_size<T>;
    return n <= too_few_to_divide || algorithms::sorts_by_pairs<Less>(n, share_of_free(n));
  }

  template <class From, class To>
  void merge(const From& from, const To& to, std::size_t half, std::size_t n) const {
    if (slow && algorithms::merges_by_pairs<Less>(half, n - half, share_of_free(n)))
      return algorithms::merge_runs_by_pairs(from, to, half, n, less);
    const auto search = static_cast<std::size_t>(std::bit_width(half));
    algorithms::merge_runs(from, to, half, n, less, slow ? algorithms::slow_merge_parts(n, search, share_of_workers(n)) : 0);
  }

  /// Returns how many free workers n elements have, while others sort the rest of `all`.
  std::size_t share_of_free(std::size_t n) const { return free * n / all; }

  /// Returns how many workers a merge of n elements counts on, while others merge the rest of `all`: twice its share, as some end before
  /// others. Both halves of an odd number have the same.
  std::size_t share_of_workers(std::size_t n) const {
    const std::size_t workers = core::current()->pool().size();
    return workers == 1 ? 1 : std::max<std::size_t>(1, 2 * (n + 1) * workers / all);
  }

  static void bring(I at, T* room, std::size_t n, bool in_room, bool to_room) noexcept {
    if (in_room && !to_room) algorithms::carry(room, at, n);
    if (!in_room && to_room) algorithms::carry(at, room, n);
  }
};

/// As merge_sort, of elements that are only is_borrowable: all are sorted in the buffer, where nothing but `less` may fail. Returns false, and
/// has done nothing, if there is no memory for twice as many. `free`: as in merge_sort. Called by a worker if n is at least sorted_alone, or
/// if `less` is slow.
template <class I, class Less>
bool sort_in_buffer(const I& first, std::size_t n, const Less& less, bool slow, std::size_t free) {
  using T = std::iter_value_t<I>;
  const raw_buffer<T> buffer{2 * n, std::nothrow};
  T* const at = buffer.data();
  if (at == nullptr) return false;
  algorithms::carry_in_parts(first, at, n);
  try {
    merge_sort<T*, Less>{less, slow, n, free}.sort(at, at + n, n, false);
  } catch (...) {
    algorithms::carry_back(at, first, n);
    throw;
  }
  algorithms::carry_back(at, first, n);
  return true;
}

/// In place: O(n log² n) work, O(log³ n) span but for its rotations, which are serial.
template <class I, class Less>
struct merge_sort_in_place {
  Less less;
  bool slow = false;
  std::size_t all = 0;   ///< as in merge_sort; 0: it only merges
  std::size_t free = 1;  ///< as in merge_sort

  /// Called by a worker if n is at least sorted_alone, or if it is slow.
  void sort(I first, std::size_t n) const {
    if (slow && all > 0 && algorithms::sorts_by_pairs<Less>(n, free * n / all)) return algorithms::sort_by_pairs(first, n, less);
    if (n <= (slow ? too_few_to_divide : small_size<std::iter_value_t<I>>)) return algorithms::small_sort(first, n, less);
    const std::size_t half = n / 2;
    both(n, [=, this] { sort(first, half); }, [=, this] { sort(algorithms::ahead(first, half), n - half); });
    merge(first, half, n - half);
  }

  /// Merges two adjacent sorted runs. Called by a worker, as sort.
  void merge(I first, std::size_t left_n, std::size_t right_n) const {
    const I middle = algorithms::ahead(first, left_n);
    if (left_n == 0 || right_n == 0 || !less(*middle, *(middle - 1))) return;
    if (left_n == 1 && right_n == 1) return std::ranges::iter_swap(first, middle);
    // The middle of the longer run, and its place in the other one.
    std::size_t left = left_n / 2;
    std::size_t right = right_n / 2;
    if (left_n > right_n) {
      right =
          algorithms::bound(right_n, [&](std::size_t i) { return less(*algorithms::ahead(middle, i), *algorithms::ahead(first, left)); });
    } else {
      left =
          algorithms::bound(left_n, [&](std::size_t i) { return !less(*algorithms::ahead(middle, right), *algorithms::ahead(first, i)); });
    }
    const I cut = std::ranges::rotate(algorithms::ahead(first, left), middle, algorithms::ahead(middle, right)).begin();
    both(left_n + right_n, [=, this] { merge(first, left, right); }, [=, this] { merge(cut, left_n - left, right_n - right); });
  }

 private:
  template <class F, class G>
  void both(std::size_t n, const F& f, const G& g) const {
    if (slow || algorithms::may_sort_in_parallel(n, parallel_merge_sort)) {
      nopal::parallel_invoke(f, g);
    } else {
      f();
      g();
    }
  }
};

// sort and nth_element by comparisons: a quicksort in place, with parallel partitions and parallel sides where there are enough elements.
// Pivots are medians of samples. Elements that equal the pivot are partitioned once. A side that is found in order is finished by
// insertion. Heapsort takes over where samples divide badly.
//
// Elements are swapped; only a few are lifted, and only cheap ones copied. So all elements are in the range if a comparator throws. What is
// swapped depends on the elements alone, never on threads. An inconsistent comparator leaves some permutation, and nothing outside the
// range is read.

/// From so many elements on both sides of a partition may run in parallel: some 10 us of work.
inline constexpr std::size_t parallel_sort = 1024;
/// From so many elements on the pivot is a median of medians, and from so many a median of more.
inline constexpr std::size_t median_of_nine = 128;
inline constexpr std::size_t median_of_many = std::size_t{1} << 14;
inline constexpr std::size_t many = 63;
/// Where one element is wanted the pivot is taken from a sample of some n^(2/3) / 2 elements, of no more than this: more would have to be fetched
/// from all over the range.
inline constexpr std::size_t most_sampled = 4096;
/// So few are sorted even if only one of them is wanted: another partition would take as long.
inline constexpr std::size_t few_to_select_from = 8;

/// Sorts parts of a range; one type for each kind of iterator and comparator.
template <class I, class Less>
struct quick_sort {
  using T = std::iter_value_t<I>;

  Less less;
  bool slow = false;  ///< it takes long: all is done in parallel that can be, with the same result

  /// Called by a worker if n is at least sorted_alone, or if it is slow.
  void sort(I first, std::size_t n) const { sort(first, n, false, 2 * static_cast<unsigned>(std::bit_width(n))); }

  /// Puts the k-th element in sorted order, of 0 to n - 1, at its place, lesser ones before it and greater ones behind it. Called by a
  /// worker if n is at least parallel_partition, or if it is slow.
  void select(I first, std::size_t n, std::size_t k) const {
    bool has_before = false;
    for (unsigned bad = 2 * static_cast<unsigned>(std::bit_width(n)); n > few_to_select_from; --bad) {
      if (bad == 0) return heap_sort(first, n);
      if (n >= median_of_many) {
        choose_pivot_beside(first, n, k);
      } else {
        choose_pivot(first, n);
      }
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
      if (slow || algorithms::may_sort_in_parallel(n, parallel_sort)) {
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
    const std::size_t free = slow ? algorithms::free_for_pairs<Less>(n) : 1;
    if (slow && algorithms::sorts_by_pairs<Less>(n, free)) return algorithms::sort_by_pairs(first, n, less);
    if constexpr (is_relocatable<I>) {
      if (slow && n > too_few_to_divide) {
        const raw_buffer<T> room{n, std::nothrow};
        if (room.data() != nullptr) return merge_sort<I, Less>{less, true, n, free}.sort(first, room.data(), n, false);
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
    if (n >= median_of_many) {
      std::array<std::size_t, many> sample;
      std::size_t state = n;
      for (std::size_t i = 0; i < many; ++i) sample[i] = sampled_place(i, n / many, state);
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

  /// Swaps a pivot to `first` that comes a little behind element k in sorted order if k is in the first half, else a little before it. So k is
  /// most likely on the smaller side, and near its end: then the next pivot leaves few elements. The middle one of n takes 1.5 n comparisons, where
  /// medians take 2 n. Floyd and Rivest, Expected time bounds for selection, CACM 18 (1975). The sample is at both sides of the pivot
  /// afterwards, as select leaves it.
  void choose_pivot_beside(I first, std::size_t n, std::size_t k) const {
    const std::size_t s = std::min(n >> (std::bit_width(n) / 3 + 1), most_sampled);
    std::size_t state = n;
    for (std::size_t i = 0; i < s; ++i) {
      std::ranges::iter_swap(algorithms::ahead(first, i), algorithms::ahead(first, sampled_place(i, n / s, state)));
    }
    const std::size_t beside = std::size_t{1} << (std::bit_width(s) / 2);  // 1.4 to 2.8 standard deviations of where k is in the sample
    const std::size_t at = k * s / n;
    const std::size_t r = k < n / 2 ? at + beside : at - beside;
    select(first, s, r);
    std::ranges::iter_swap(first, algorithms::ahead(first, r));
  }

  /// A pseudo-random place in stretch `i`, of stretches of this length: no pattern in the data knows it. `state`: of the generator.
  static std::size_t sampled_place(std::size_t i, std::size_t length, std::size_t& state) {
    state = state * 0x5851'F42D'4C95'7F2D + 0x1405'7B7E'F767'814F;
    return i * length + (state >> 32) % length;
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

// Sorts numbers in ascending or descending order by digits of eight bits, with a buffer for as many beside them. Parts too large for the
// second-level cache are distributed by the highest digit in which they differ; smaller ones are sorted from the lowest digit up; the
// smallest, and those that differ in many digits, by comparisons. Stable. It never fails once it has its buffer.

template <class Comp, class T>
inline constexpr bool is_less =
    std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::less<>> || std::is_same_v<Comp, std::less<T>>;
template <class Comp, class T>
inline constexpr bool is_greater =
    std::is_same_v<Comp, std::ranges::greater> || std::is_same_v<Comp, std::greater<>> || std::is_same_v<Comp, std::greater<T>>;

/// Whole numbers of at most 64 bits: equal ones are the same.
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> && sizeof(T) <= 8;
/// Floating-point numbers of IEC 60559. Zeros of both signs are equal but not the same: not for stable sorts.
template <class T>
inline constexpr bool is_real = (std::is_same_v<T, float> || std::is_same_v<T, double>) && std::numeric_limits<T>::is_iec559;

template <std::size_t Bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = std::uint8_t;
};
template <>
struct word_of<2> {
  using type = std::uint16_t;
};
template <>
struct word_of<4> {
  using type = std::uint32_t;
};
template <>
struct word_of<8> {
  using type = std::uint64_t;
};

/// A number as an unsigned word with the same order: negative numbers first, those of greater magnitude before others. NaNs come before or
/// after all numbers, by their sign.
template <class T, bool Reverse>
struct radix_key {
  using word = word_of<sizeof(T)>::type;

  NOPAL_INLINE word operator()(T x) const {
    constexpr auto sign = static_cast<word>(word{1} << (8 * sizeof(T) - 1));
    word w = 0;
    if constexpr (is_real<T>) {
      w = std::bit_cast<word>(x);
      w ^= (w & sign) != 0 ? std::numeric_limits<word>::max() : sign;
    } else {
      w = static_cast<word>(x);
      if constexpr (std::is_signed_v<T>) w ^= sign;
    }
    return Reverse ? static_cast<word>(~w) : w;
  }
};

/// The order of these keys.
template <class T, bool Reverse>
struct number_less {
  NOPAL_INLINE bool operator()(T a, T b) const {
    if constexpr (is_real<T>) {
      constexpr radix_key<T, Reverse> key;
      return key(a) < key(b);
    } else {
      return Reverse ? b < a : a < b;
    }
  }
};

/// From so many numbers on a sort by digits is worth its tables and its buffer.
inline constexpr std::size_t least_radix_sort = 256;
/// From so many on several threads distribute, each a part of at least a quarter of that; at most most_radix_parts of them.
inline constexpr std::size_t parallel_radix = std::size_t{1} << 16;
inline constexpr std::size_t most_radix_parts = 64;
/// Twice so many bytes fit into a second-level cache.
inline constexpr std::size_t radix_in_cache = std::size_t{1} << 18;
inline constexpr unsigned digit_bits = 8;
inline constexpr std::size_t digits = std::size_t{1} << digit_bits;

template <class T, bool Reverse>
struct radix_sort {
  using word = radix_key<T, Reverse>::word;
  using counts = std::array<std::size_t, digits>;

  radix_key<T, Reverse> key;

  /// Sorts the n numbers at `from`; the result is there, or at `to`. Called by a worker.
  void sort(T* from, T* to, std::size_t n, bool ends_there) const {
    if (n <= small_size<T>) return by_comparisons(from, to, n, ends_there);
    const word differ = differing_bits(from, n);
    if (differ == 0) {
      if (ends_there) std::copy_n(from, n, to);
      return;
    }
    const unsigned passes = digits_in(differ);
    // In nanoseconds: a pass takes 1.2 for each number and 300 for its table, a comparison 1.5, since half of the jumps behind one are unforeseen.
    const auto levels = static_cast<std::size_t>(std::bit_width(n));
    if (passes * (n + n / 4 + 300) > n * levels * 3 / 2) return by_comparisons(from, to, n, ends_there);
    if (n * sizeof(T) <= radix_in_cache || (passes == 1 && n < parallel_radix)) return from_lowest(from, to, n, ends_there, differ);
    deal_out(from, to, n, ends_there, differ);
  }

 private:
  NOPAL_INLINE static std::size_t digit(word w, unsigned shift) { return (w >> shift) % digits; }

  [[nodiscard]] word differing_bits(const T* from, std::size_t n) const {
    const word first = key(from[0]);
    const auto of = [&](std::size_t begin, std::size_t end) {
      word differ = 0;
      for (std::size_t i = begin; i < end; ++i) differ |= static_cast<word>(key(from[i]) ^ first);
      return differ;
    };
    if (n < parallel_radix) return of(0, n);
    std::array<word, most_radix_parts> results;
    const std::size_t count = parts(n);
    each_part(0, count, [&](std::size_t part) { results[part] = of(n / count * part, part + 1 == count ? n : n / count * (part + 1)); });
    word differ = 0;
    for (std::size_t part = 0; part < count; ++part) differ |= results[part];
    return differ;
  }
  static unsigned digits_in(word differ) {
    unsigned passes = 0;
    for (; differ != 0; differ = static_cast<word>(sizeof(word) == 1 ? 0 : differ >> (digit_bits % (8 * sizeof(word))))) {
      passes += differ % digits != 0 ? 1 : 0;
    }
    return passes;
  }
  static std::size_t parts(std::size_t n) { return std::clamp<std::size_t>(n / (parallel_radix / 4), 2, most_radix_parts); }

  void by_comparisons(T* from, T* to, std::size_t n, bool ends_there) const {
    constexpr number_less<T, Reverse> less;
    quick_sort<T*, number_less<T, Reverse>>{less}.sort(from, n);
    if (ends_there) std::copy_n(from, n, to);
  }

  /// Turns the number of keys of each digit into the places where they begin.
  static void begins(counts& of) {
    std::size_t sum = 0;
    for (std::size_t& count : of) {
      const std::size_t begin = sum;
      sum += count;
      count = begin;
    }
  }
  void count(const T* from, std::size_t n, unsigned shift, counts& of) const {
    of.fill(0);
    for (std::size_t i = 0; i < n; ++i) ++of[digit(key(from[i]), shift)];
  }
  void move(const T* from, T* to, std::size_t n, unsigned shift, counts& next) const {
    for (std::size_t i = 0; i < n; ++i) to[next[digit(key(from[i]), shift)]++] = from[i];
  }

  void from_lowest(T* from, T* to, std::size_t n, bool ends_there, word differ) const {
    bool there = false;
    counts of;
    for (unsigned shift = 0; shift < 8 * sizeof(word); shift += digit_bits) {
      if (digit(differ, shift) == 0) continue;
      count(from, n, shift, of);
      begins(of);
      move(from, to, n, shift, of);
      std::swap(from, to);
      there = !there;
    }
    if (there != ends_there) std::copy_n(from, n, to);
  }

  void deal_out(T* from, T* to, std::size_t n, bool ends_there, word differ) const {
    const auto width = static_cast<unsigned>(std::bit_width(differ));
    const unsigned shift = width > digit_bits ? width - digit_bits : 0;
    counts ends;
    if (n < parallel_radix) {
      count(from, n, shift, ends);
      begins(ends);
      move(from, to, n, shift, ends);
    } else {
      deal_out_in_parts(from, to, n, shift, ends);
    }
    each_part(0, digits, [&](std::size_t d) {
      const std::size_t begin = d == 0 ? 0 : ends[d - 1];
      if (begin != ends[d]) sort(to + begin, from + begin, ends[d] - begin, !ends_there);
    });
  }

  /// Each part counts its digits; then each knows where its own go.
  void deal_out_in_parts(T* from, T* to, std::size_t n, unsigned shift, counts& ends) const {
    const std::size_t total = parts(n);
    const std::size_t size = n / total;
    const auto size_of = [&](std::size_t part) { return part + 1 == total ? n - size * part : size; };
    const raw_buffer<counts> room{total, std::nothrow};
    if (room.data() == nullptr) {  // 128 KiB
      count(from, n, shift, ends);
      begins(ends);
      return move(from, to, n, shift, ends);
    }
    counts* const of = std::uninitialized_default_construct_n(room.data(), total) - static_cast<std::ptrdiff_t>(total);
    each_part(0, total, [&](std::size_t part) { count(from + size * part, size_of(part), shift, of[part]); });
    std::size_t sum = 0;
    for (std::size_t d = 0; d < digits; ++d) {
      for (std::size_t part = 0; part < total; ++part) {
        const std::size_t begin = sum;
        sum += of[part][d];
        of[part][d] = begin;
      }
      ends[d] = sum;
    }
    each_part(0, total, [&](std::size_t part) { move(from + size * part, to, size_of(part), shift, of[part]); });
  }
};

// Shared by sort, stable_sort and their kin: whether a range is sorted or reversed already, when a pool is worth it, and the sort by
// digits.

/// The part of a long range that one thread checks.
inline constexpr std::size_t run_part = std::size_t{1} << 15;
/// So many elements are checked first where comparisons take long.
inline constexpr std::size_t slow_run = 4;

enum class found { neither, sorted, reversed };

/// Returns whether holds(a, b) for all neighbours of n elements, a before b. Called by a worker if n is more than run_part, or if `holds`
/// is slow. O(n) work, O(log n) span; little is checked behind a part where it does not hold.
template <class I, class Holds>
bool all_neighbours(I first, std::size_t n, const Holds& holds, bool slow) {
  const auto part_holds = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i) {
      if (!holds(*algorithms::ahead(first, i - 1), *algorithms::ahead(first, i))) return false;
    }
    return true;
  };
  if (!part_holds(0, std::min(n, slow ? slow_run : run_part))) return false;
  if (slow && n > slow_run) {
    return algorithms::find_first(
               slow_run, n, [&](std::size_t i) { return !holds(*algorithms::ahead(first, i - 1), *algorithms::ahead(first, i)); }) == n;
  }
  if (n <= run_part) return true;
  std::atomic<bool> broken{false};
  const std::size_t parts = (n + run_part - 1) / run_part;
  each_part(1, parts, [&](std::size_t part) {
    // Relaxed: a hint. The join of the parts orders the last load.
    if (broken.load(std::memory_order::relaxed)) return;
    if (!part_holds(part * run_part, std::min(n, (part + 1) * run_part))) broken.store(true, std::memory_order::relaxed);
  });
  return !broken.load(std::memory_order::relaxed);
}

/// `reversed`: each element is less than the one before it. No two are then equal, and reversing them is stable. Random elements are found
/// out after a few.
template <class I, class Less>
found find_run(I first, std::size_t n, const Less& less, bool slow) {
  if (n < 2) return found::sorted;
  if (less(*algorithms::ahead(first, 1), *first)) {
    return algorithms::all_neighbours(first, n, [&](auto& a, auto& b) { return less(b, a); }, slow) ? found::reversed : found::neither;
  }
  return algorithms::all_neighbours(first, n, [&](auto& a, auto& b) { return !less(b, a); }, slow) ? found::sorted : found::neither;
}

/// Off a pool, fewer elements are sorted by the caller alone.
inline constexpr std::size_t sorted_alone = 2048;
static_assert(sorted_alone <= run_part && sorted_alone <= parallel_radix);

/// Does Comp order numbers in a way that a sort by digits can produce?
template <class T, class Comp, class Proj, bool Stable>
inline constexpr bool by_digits =
    std::is_same_v<Proj, std::identity> && (is_whole<T> || (is_real<T> && !Stable)) && (is_less<Comp, T> || is_greater<Comp, T>);

/// Returns false, and has done nothing, if there is no memory.
template <class Comp, class T>
bool sort_by_digits(T* first, std::size_t n) {
  const raw_buffer<T> room{n, std::nothrow};
  if (room.data() == nullptr) return false;
  std::uninitialized_default_construct_n(room.data(), n);
  radix_sort<T, is_greater<Comp, T>>{}.sort(first, room.data(), n, false);
  return true;
}

/// Calls f(): on a worker if so many elements are worth it or comparisons are `slow`, else here.
template <class F>
void where_worth_it(std::size_t n, const F& f, bool slow = false) {
  if (n < sorted_alone && !slow) {
    f();
  } else {
    algorithms::on_pool(f);
  }
}

/// Do such comparisons take a nanosecond, whatever the elements?
template <class T, class Less>
inline constexpr bool never_slow = false;
template <class T, class Comp>
inline constexpr bool never_slow<T, projected_less<Comp, std::identity>> =
    compares_plainly<Comp> && (std::is_arithmetic_v<T> || std::is_pointer_v<T>);

/// Does a comparison take so long that several workers should sort even a few elements? Measured with the first two. `pairs`: of the few
/// elements, so many would be compared at once. by_pairs(): would they all be?
template <class I, class Less, class ByPairs>
bool compares_slowly(I first, std::size_t n, const Less& less, std::size_t pairs, const ByPairs& by_pairs) {
  if (n < 3 || (n <= too_few_to_divide && never_slow<std::iter_value_t<I>, Less>)) return false;
  const auto slow = [=](double ticks) {
    return algorithms::is_slow(ticks, n) && (n > too_few_to_divide || algorithms::worth_pairs(ticks, pairs));
  };
  iteration_cost& cost = cost_of<Less>;
  const float known = cost.ticks();
  const bool known_slow = slow(known);
  // Where few are known to be quick, two readings of the clock would take longer than to sort them.
  if (n <= too_few_to_divide && known > 0 && !known_slow && !shares_by_schedule() && !cost.doubts()) return false;
  const auto ask = [&] { static_cast<void>(less(*algorithms::ahead(first, 1), *first)); };
  return algorithms::turns_out<Less, true>(n, ask, slow, known_slow && by_pairs());
}
template <class I, class Less>
bool compares_slowly(I first, std::size_t n, const Less& less) {
  return algorithms::compares_slowly(first, n, less, n <= most_paired ? algorithms::pairs_of(n) : 0,
                                     [n] { return algorithms::sorts_by_pairs<Less>(n); });
}

/// Returns whether the range was sorted or reversed; it is sorted then.
template <class I, class Less>
bool was_a_run(I first, std::size_t n, const Less& less, bool slow = false) {
  if (n <= small_size<std::iter_value_t<I>>) return false;
  const found run = algorithms::find_run(first, n, less, slow);
  if (run == found::reversed) algorithms::reverse_all(first, n);
  return run != found::neither;
}

/// Are sort and stable_sort the same here? They are for whole numbers: equal ones cannot be told apart.
template <class I, class Comp, class Proj>
inline constexpr bool whole_by_digits = by_digits<std::iter_value_t<I>, Comp, Proj, true> && std::is_pointer_v<I>;

template <class Comp, class T>
void sort_whole(T* first, std::size_t n) {
  using order = number_less<T, is_greater<Comp, T>>;
  if (algorithms::was_a_run(first, n, order{})) return;
  if (n >= least_radix_sort && sort_by_digits<Comp>(first, n)) return;
  quick_sort<T*, order>{}.sort(first, n);
}

}  // namespace nopal::core::algorithms
