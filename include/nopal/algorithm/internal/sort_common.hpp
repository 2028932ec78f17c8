#pragma once

// Shared by sort, stable_sort and their kin: whether a range is sorted or reversed already, when a pool is worth it, and the sort by
// digits.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/algorithm/internal/radix_sort.hpp"
#include "nopal/algorithm/internal/small_sort.hpp"
#include "nopal/algorithm/reverse.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

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

/// Fewer elements are sorted by the caller, without a pool.
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

/// Does a comparison take so long that several workers should sort even a few elements? Measured with the first two.
template <class I, class Less>
bool compares_slowly(I first, std::size_t n, const Less& less) {
  return n > 4 && algorithms::turns_out_slow<Less>(n, [&] { static_cast<void>(less(*algorithms::ahead(first, 1), *first)); });
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
