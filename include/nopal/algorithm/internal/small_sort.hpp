#pragma once

// Serial, stable sorts of a few elements, in which all sorts end. If the comparator throws or is inconsistent, all elements are still in
// the range, and nothing outside it is read or written.

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

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
/// there.
template <class T, class Less>
NOPAL_INLINE void merge_halves(T* from, T* to, std::size_t n, const Less& less) {
  const std::size_t half = n / 2;
  T* left = from;
  T* right = from + half;
  T* left_last = right - 1;
  T* right_last = from + n - 1;
  for (std::size_t i = 0; i < half; ++i) {
    const bool take_right = less(*right, *left);
    algorithms::copy_to(to + i, take_right ? *right : *left);
    right += take_right ? 1 : 0;
    left += take_right ? 0 : 1;
    const bool take_left = less(*right_last, *left_last);
    algorithms::copy_to(to + (n - 1 - i), take_left ? *left_last : *right_last);
    left_last -= take_left ? 1 : 0;
    right_last -= take_left ? 0 : 1;
  }
  if (n % 2 != 0) {
    const bool take_left = left <= left_last;
    algorithms::copy_to(to + half, take_left ? *left : *right);
    left += take_left ? 1 : 0;
    right += take_left ? 0 : 1;
  }
  if (left == left_last + 1 && right == right_last + 1) [[likely]]
    return;
  for (std::size_t i = 0; i < n; ++i) algorithms::copy_to(to + i, from[i]);  // the ends did not meet: the comparator is inconsistent
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

}  // namespace nopal::core::algorithms
