#pragma once

// What sort and stable_sort share: when a pool is worth it, and the sort by digits.

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>

#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/algorithm/internal/radix_key.hpp"
#include "nopal/algorithm/internal/radix_sort.hpp"
#include "nopal/algorithm/internal/raw_buffer.hpp"
#include "nopal/algorithm/internal/reversal.hpp"
#include "nopal/algorithm/internal/runs.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/algorithm/internal/small_sort.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Fewer elements are sorted where the caller is, without a pool.
inline constexpr std::size_t sorted_alone = 2048;
static_assert(sorted_alone <= run_part && sorted_alone <= parallel_radix);

/// Can numbers be sorted by their digits, in the order that Comp gives them?
template <class T, class Comp, class Proj, bool Stable>
inline constexpr bool by_digits =
    std::is_same_v<Proj, std::identity> && (is_whole<T> || (is_real<T> && !Stable)) && (is_less<Comp, T> || is_greater<Comp, T>);

/// False: there was no memory for it.
template <class Comp, class T>
bool sort_by_digits(T* first, std::size_t n) {
  const raw_buffer<T> room{n, std::nothrow};
  if (room.data() == nullptr) return false;
  std::uninitialized_default_construct_n(room.data(), n);
  radix_sort<T, is_greater<Comp, T>>{}.sort(first, room.data(), n, false);
  return true;
}

/// Calls f(), by a worker if so many elements are worth it, or if comparisons are `slow`.
template <class F>
void where_worth_it(std::size_t n, const F& f, bool slow = false) {
  if (n < sorted_alone && !slow) {
    f();
  } else {
    algorithms::on_pool(f);
  }
}

/// Does a comparison take so long that a few elements are sorted by several workers? Asked of the first two elements.
template <class I, class Less>
bool compares_slowly(I first, std::size_t n, const Less& less) {
  return n > 4 && algorithms::turns_out_slow<Less>(n, [&] { static_cast<void>(less(*algorithms::ahead(first, 1), *first)); });
}

/// Sorts what is sorted already, or in reverse, and says whether it was.
template <class I, class Less>
bool was_a_run(I first, std::size_t n, const Less& less, bool slow = false) {
  if (n <= small_size<std::iter_value_t<I>>) return false;
  const found run = algorithms::find_run(first, n, less, slow);
  if (run == found::reversed) algorithms::reverse_all(first, n);
  return run != found::neither;
}

/// Is this one sort, stable or not? Of whole numbers those that are equal are the same.
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
