#pragma once

// Algorithms of two sorted sets: includes, set_union, set_intersection, set_difference, set_symmetric_difference: as those of
// std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/set_parts.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// By its types the costs of comparisons are remembered.
template <class...>
struct includes_pack {};

/// Returns how many of n sorted elements come before something; one call if all do.
template <class I, class Before>
std::size_t count_before(const I& first, std::size_t n, const Before& before) {
  if (n == 0 || before(algorithms::ahead(first, n - 1))) return n;
  std::size_t low = 0;
  for (std::size_t high = n - 1; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (before(algorithms::ahead(first, middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct includes_function : refuses_lists, refuses_second {
  using refuses_lists::operator();
  using refuses_second::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            class Proj1 = std::identity, class Proj2 = std::identity,
            std::indirect_strict_weak_order<std::projected<I1, Proj1>, std::projected<I2, Proj2>> Comp = std::ranges::less>
  bool operator()(I1 first1, S1 last1, I2 first2, S2 last2, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    const std::size_t n1 = algorithms::length(first1, last1);
    const std::size_t n2 = algorithms::length(first2, last2);
    if (n2 == 0) return true;
    if (n1 < n2) return false;
    const auto is_before = [&](auto&& of_second, auto&& of_first) {
      return static_cast<bool>(std::invoke(comp, std::invoke(proj2, static_cast<decltype(of_second)>(of_second)),
                                           std::invoke(proj1, static_cast<decltype(of_first)>(of_first))));
    };
    // A part of a merge has these elements of the second range. Its elements of the first are all that may equal them, except those left of
    // the part that equal the first of them and have no partner there.
    const auto part_included = [&](std::size_t from1, std::size_t to1, std::size_t from2, std::size_t to2) {
      const I2 wanted = algorithms::ahead(first2, from2);
      const std::size_t equals2 = from2 - algorithms::count_before(first2, from2, [&](const I2& it) {
                                    return static_cast<bool>(std::invoke(comp, std::invoke(proj2, *it), std::invoke(proj2, *wanted)));
                                  });
      const std::size_t begin1 = equals2 + algorithms::count_before(first1, from1, [&](const I1& it) {
                                   return static_cast<bool>(std::invoke(comp, std::invoke(proj1, *it), std::invoke(proj2, *wanted)));
                                 });
      return begin1 <= to1 && std::ranges::includes(algorithms::ahead(first1, begin1), algorithms::ahead(first1, to1), wanted,
                                                    algorithms::ahead(first2, to2), std::ref(comp), std::ref(proj1), std::ref(proj2));
    };
    std::atomic<std::size_t> missing{n1 + n2};  // where the first part begins that lacks an element of the second range
    first_thrown thrown{n1 + n2};
    // Relaxed: a hint. Missing it costs some searching in vain.
    const auto is_needless = [&](std::size_t part) { return missing.load(std::memory_order::relaxed) < part; };
    const auto look = [&](std::size_t from1, std::size_t to1, std::size_t from2, std::size_t to2) {
      if (from2 == to2 || is_needless(from1 + from2)) return;
      try {
        if (!part_included(from1, to1, from2, to2)) algorithms::lower(missing, from1 + from2);
      } catch (...) {
        thrown.note(from1 + from2);
        throw;
      }
    };
    try {
      using site = includes_pack<I1, I2, Comp, Proj1, Proj2>;
      if (turns_out_slow<site>(n1 + n2, [&] { static_cast<void>(is_before(*first2, *first1)); })) {
        algorithms::merge_slowly<site, false>(first1, n1, first2, n2, is_before, look);
      } else {
        algorithms::each_block(blocks{n1 + n2, least_merge_block}, [&](std::size_t, std::size_t from, std::size_t to) {
          if (is_needless(from)) return;
          const std::size_t begin = algorithms::from_left_of_first(from, first1, n1, first2, n2, is_before);
          // Clamped: unsorted ranges may contradict themselves.
          const std::size_t end =
              std::clamp(algorithms::from_left_of_first(to, first1, n1, first2, n2, is_before), begin, begin + (to - from));
          look(begin, end, from - begin, to - end);
        });
      }
    } catch (...) {
      // Relaxed: the loop has joined all writers.
      if (!thrown.is_behind(missing.load(std::memory_order::relaxed))) throw;
    }
    return missing.load(std::memory_order::relaxed) == n1 + n2;
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, class Proj1 = std::identity,
            class Proj2 = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R1>, Proj1>,
                                            std::projected<std::ranges::iterator_t<R2>, Proj2>>
                Comp = std::ranges::less>
  bool operator()(R1&& range1, R2&& range2, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    return (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                   std::move(comp), std::move(proj1), std::move(proj2));
  }
};

/// From so many elements on cutting the ranges is worth it, where comparisons take nanoseconds.
inline constexpr std::size_t parallel_set = 4 * least_set_part;
/// So few take fewer comparisons one by one than finding where parts begin.
inline constexpr std::size_t few_in_sets = 8;

/// What an algorithm writes, its serial form, and what it returns.
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

/// includes(first1, last1, first2, last2, comp = less, proj1 = identity, proj2 = identity), includes(range1, range2, comp, proj1, proj2):
/// returns whether the first of two sorted ranges has each element of the second, at least as often, as std::ranges::includes does. Several
/// threads call comp and the projections at once. Throws what the first block that threw has thrown, unless an element before it is
/// missing. Off a pool also throws what default_pool() throws. O(n) work at most. O(log n) span, for cheap comparisons 1024 more; O(n / P +
/// log n) on P workers where comparisons take long.
inline constexpr core::algorithms::includes_function includes{};

/// set_union(first1, last1, first2, last2, out, comp = less, proj1 = identity, proj2 = identity), set_union(range1, range2, out, comp,
/// proj1, proj2): copies, sorted, what is in one of two sorted ranges or in both, and returns the ends, as std::ranges::set_union does. Of
/// elements that are equal, m in the first range and n in the second, it copies all m and, if n is more than m, the last n - m. `out` is a
/// random-access iterator whose elements are objects, other than those copied. Several threads call comp and the projections at
/// once.
///
/// Throws what the first part that threw has thrown; what a comparison throws, before anything is copied if there are several parts. Throws
/// std::bad_alloc if there is no memory for a byte for each element. Off a pool also throws what default_pool() throws. O(n) work, O(n /
/// 1024 + log n) span; where comparisons take long each worker has one part.
inline constexpr core::algorithms::set_function<core::algorithms::forms_union> set_union{};

/// set_intersection, called as set_union: copies from the first range what is in both: of elements that are equal, min(m, n). All else is
/// as for set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_intersection> set_intersection{};

/// set_difference, called as set_union: copies from the first range what is not in the second: of elements that are equal, the last m - n.
/// Returns the ends of the first range and of what was written. All else is as for set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_difference> set_difference{};

/// set_symmetric_difference, called as set_union: copies what is in one range and not in the other: of elements that are equal, the last m
/// - n of the first range or n - m of the second. All else is as for set_union.
inline constexpr core::algorithms::set_function<core::algorithms::forms_symmetric_difference> set_symmetric_difference{};

}  // namespace nopal
