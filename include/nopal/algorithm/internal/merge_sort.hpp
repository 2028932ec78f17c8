#pragma once

// stable_sort by comparisons: a merge sort between the range and a buffer, with parallel halves and parallel merges; and one in place,
// which merges by rotations. In both, all elements are in the range if the comparator throws.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/small_sort.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// From so many elements on both halves may be sorted in parallel: some 10 us of work.
inline constexpr std::size_t parallel_merge_sort = 1024;

template <class I, class Less>
struct merge_sort {
  using T = std::iter_value_t<I>;
  static_assert(is_relocatable<T>);

  Less less;
  bool slow = false;    ///< it takes long: all is done in parallel that can be
  std::size_t all = 0;  ///< then: elements, those of all calls of sort

  /// Sorts the n elements at `at`, into `room` or in place. If it throws, they are where they were to be, in some order. The other memory
  /// has no objects. Called by a worker if n is at least parallel_merge_sort, or if it is slow.
  void sort(I at, T* room, std::size_t n, bool to_room) const {
    if (n <= (slow ? 3 : small_size<T>)) return sort_few(at, room, n, to_room);
    const std::size_t half = n / 2;
    bool right_begun = false;
    const auto left = [&] { sort(at, room, half, !to_room); };
    const auto right = [&] {
      right_begun = true;
      sort(algorithms::ahead(at, half), room + half, n - half, !to_room);
    };
    try {
      if (n >= parallel_merge_sort || slow) {
        nopal::parallel_invoke(left, right);
      } else {
        left();
        right();
      }
    } catch (...) {
      bring(at, room, half, !to_room, to_room);
      bring(algorithms::ahead(at, half), room + half, n - half, right_begun && !to_room, to_room);
      throw;
    }
    const auto search = static_cast<std::size_t>(std::bit_width(half));
    const std::size_t slow_parts = slow ? algorithms::slow_merge_parts(n, search, share_of_workers(n)) : 0;
    if (to_room) {
      algorithms::merge_runs(at, room, half, n, less, slow_parts);
    } else {
      algorithms::merge_runs(room, at, half, n, less, slow_parts);
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
    algorithms::small_sort(at, n, less);
  }

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

/// In place: O(n log² n) work, O(log³ n) span but for its rotations, which are serial.
template <class I, class Less>
struct merge_sort_in_place {
  Less less;
  bool slow = false;

  /// Called by a worker if n is at least parallel_merge_sort.
  void sort(I first, std::size_t n) const {
    if (n <= (slow ? 3 : small_size<std::iter_value_t<I>>)) return algorithms::small_sort(first, n, less);
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
    if (n >= parallel_merge_sort || slow) {
      nopal::parallel_invoke(f, g);
    } else {
      f();
      g();
    }
  }
};

}  // namespace nopal::core::algorithms
