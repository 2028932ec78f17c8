#pragma once

// nopal::includes: as std::ranges::includes, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/find_first.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/algorithm/merge.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// By its types the costs of comparisons are remembered.
template <class...>
struct includes_pack {};

/// How many of n sorted elements come before something: one question where all do.
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
    // Those of the second range in a part of a merge of both: its elements of the first are all that may equal them, but for those left of
    // it that equal the first of them and have no partner left of it.
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
    std::atomic<std::size_t> missing{n1 + n2};  // an element of the second range is, in the part that begins here or behind it
    first_thrown thrown{n1 + n2};
    // Relaxed: a hint. What it misses is looked at in vain.
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
        algorithms::merge_slowly<site>(first1, n1, first2, n2, is_before, look);
      } else {
        algorithms::each_block(blocks{n1 + n2, least_merge_block}, [&](std::size_t, std::size_t from, std::size_t to) {
          if (is_needless(from)) return;
          const std::size_t begin = algorithms::from_left_of_first(from, first1, n1, first2, n2, is_before);
          // Clamped: ranges that are not sorted may contradict themselves.
          const std::size_t end =
              std::clamp(algorithms::from_left_of_first(to, first1, n1, first2, n2, is_before), begin, begin + (to - from));
          look(begin, end, from - begin, to - end);
        });
      }
    } catch (...) {
      // Relaxed: the loop has joined all that wrote.
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

}  // namespace core::algorithms

/// includes(first1, last1, first2, last2, comp = less, proj1 = identity, proj2 = identity), includes(range1, range2, comp, proj1, proj2): has the first of two
/// sorted ranges each element of the second, as often at least, as std::ranges::includes. The comparator and the projections are called by several
/// threads at once. Throws what the first block that threw has thrown, unless an element before it is missing; off a pool also what
/// default_pool() throws. O(n) work at most, O(log n) span and for cheap comparisons 1024 more; where comparisons take long O(n / P + log n) on
/// P workers.
inline constexpr core::algorithms::includes_function includes{};

}  // namespace nopal
