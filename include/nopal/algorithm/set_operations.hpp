#pragma once

// nopal::set_union, nopal::set_intersection, nopal::set_difference, nopal::set_symmetric_difference: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/set_parts.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/core/loop/sharing.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// From so many elements on it is worth it to cut them, where comparisons take nanoseconds.
inline constexpr std::size_t parallel_set = 4 * least_set_part;
/// So few take fewer comparisons one by one than the searches for where parts begin.
inline constexpr std::size_t few_in_sets = 8;

/// What an algorithm writes, how serially, and what it returns.
struct forms_union {
  static constexpr unsigned set = 1U << of_first | 1U << of_second | 1U << of_both;
  static constexpr auto& serially = std::ranges::set_union;
  template <class I1, class I2, class O>
  using result = std::ranges::set_union_result<I1, I2, O>;
};
struct forms_intersection {
  static constexpr unsigned set = 1U << of_both;
  static constexpr auto& serially = std::ranges::set_intersection;
  template <class I1, class I2, class O>
  using result = std::ranges::set_intersection_result<I1, I2, O>;
};
struct forms_difference {
  static constexpr unsigned set = 1U << of_first;
  static constexpr auto& serially = std::ranges::set_difference;
  template <class I1, class I2, class O>
  using result = std::ranges::set_difference_result<I1, O>;
};
struct forms_symmetric_difference {
  static constexpr unsigned set = 1U << of_first | 1U << of_second;
  static constexpr auto& serially = std::ranges::set_symmetric_difference;
  template <class I1, class I2, class O>
  using result = std::ranges::set_symmetric_difference_result<I1, I2, O>;
};

template <class Forms>
struct set_function : refuses_lists, refuses_inserters_behind_two {
  using refuses_lists::operator();
  using refuses_inserters_behind_two::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            parallel_iterator O, class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<I1, I2, O, Comp, Proj1, Proj2>
  typename Forms::template result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out, Comp comp = {}, Proj1 proj1 = {},
                                                        Proj2 proj2 = {}) const {
    const I1 end1 = algorithms::end_of(first1, last1);
    const I2 end2 = algorithms::end_of(first2, last2);
    const auto n1 = static_cast<std::size_t>(end1 - first1);
    const auto n2 = static_cast<std::size_t>(end2 - first2);
    const auto plain1 = algorithms::plain_iterator(first1);
    const auto plain2 = algorithms::plain_iterator(first2);
    using sorted_type = two_sorted<std::remove_const_t<decltype(plain1)>, std::remove_const_t<decltype(plain2)>, Comp, Proj1, Proj2>;
    sorted_type sorted{plain1, n1, plain2, n2, comp, proj1, proj2};
    sorted.slow = n1 > 0 && n2 > 0 && n1 + n2 > few_in_sets &&
                  algorithms::turns_out_slow<typename sorted_type::site>(n1 + n2, [&] { static_cast<void>(sorted.begins_with_second()); });
    std::size_t written = 0;
    const auto write = [&] { written = algorithms::write_set(sorted, algorithms::plain_iterator(out), Forms::set); };
    if (sorted.slow) {
      algorithms::on_pool(write);
    } else if (n1 + n2 >= parallel_set && could_share()) {
      write();
    } else {
      auto result =
          Forms::serially(std::move(first1), end1, std::move(first2), end2, out, std::ref(comp), std::ref(proj1), std::ref(proj2));
      return result;
    }
    O end = algorithms::ahead(out, written);
    if constexpr (requires(typename Forms::template result<I1, I2, O> r) { r.in2; }) {
      return {end1, end2, std::move(end)};
    } else {
      return {end1, std::move(end)};
    }
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, parallel_iterator O, class Comp = std::ranges::less,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, O, Comp, Proj1, Proj2>
  typename Forms::template result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>, O> operator()(
      R1&& range1, R2&& range2, O out, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(out), std::move(comp), std::move(proj1), std::move(proj2));
  }
};

}  // namespace core::algorithms

/// set_union(first1, last1, first2, last2, out, comp = less, proj1 = identity, proj2 = identity), set_union(range1, range2, out, comp,
/// proj1, proj2): copies, sorted, what is in one of two sorted ranges or in both, and returns the ends, as std::ranges::set_union does: of
/// elements that are equal, m in the first range and n in the second one, all m and the last n - m if these are more. `out` is an iterator
/// of random access whose elements are objects, and none of those copied. The comparator and the projections are called by several threads
/// at once.
///
/// Throws what the first part that threw has thrown, before anything is copied if it is a comparison's and there are several parts;
/// std::bad_alloc if there is no memory for a byte for each element; off a pool also what default_pool() throws. O(n) work, O(n / 1024 +
/// log n) span; where comparisons take long there is one part for each worker.
inline constexpr core::algorithms::set_function<core::algorithms::forms_union> set_union{};

/// set_intersection, called as set_union: copies of the first range what is in both: min(m, n) of elements that are equal. Else as
/// set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_intersection> set_intersection{};

/// set_difference, called as set_union: copies of the first range what is not in the second one: the last m - n of elements that are equal.
/// Returns the ends of the first range and of what was written. Else as set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_difference> set_difference{};

/// set_symmetric_difference, called as set_union: copies what is in one range and not in the other: of elements that are equal the last m -
/// n of the first range, or n - m of the second one. Else as set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_symmetric_difference> set_symmetric_difference{};

}  // namespace nopal
