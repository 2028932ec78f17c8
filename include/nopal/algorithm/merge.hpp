#pragma once

// merge, inplace_merge: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/merge_waves.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/pairs.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/sorts.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// The least block of a merge: two binary searches find where it begins and ends.
inline constexpr std::size_t least_merge_block = 1024;

/// Its types identify the cost of comparisons that is remembered.
template <class...>
struct merge_pack {};
template <class Site>
struct merge_search {};
template <class Site>
struct merge_part {};

/// Do free workers merge two short ranges into a third sooner if they compare all pairs, than if they search for where their parts begin?
template <class Site>
bool merges_slowly_by_pairs(std::size_t n1, std::size_t n2) {
  if (n1 == 0 || n2 == 0 || n1 > most_paired || n2 > most_paired) return false;
  const std::size_t workers = algorithms::free_for_pairs<Site>(n1 + n2);
  const auto search = static_cast<std::size_t>(std::bit_width(std::min(n1, n2) - 1));
  const std::size_t in_parts = search + (n1 + n2 + workers - 1) / workers;
  return algorithms::merges_by_pairs<Site>(n1, n2, workers, std::min(merge_rounds, in_parts - 1));
}

/// For comparisons that take long: one part for each worker, or several if parts are long. Binary searches in parallel find where they
/// begin. Of few elements all pairs are compared at once if `ByPairs`: then each element is a part, one after the other, for which `merge`
/// must compare nothing.
template <class Site, bool ByPairs, class I1, class I2, class Before, class Merge>
void merge_slowly(const I1& first1, std::size_t n1, const I2& first2, std::size_t n2, const Before& is_before, const Merge& merge) {
  const std::size_t n = n1 + n2;
  const auto search = static_cast<std::size_t>(std::bit_width(std::min(n1, n2)));
  algorithms::on_pool([&] {
    if (ByPairs && algorithms::merges_slowly_by_pairs<Site>(n1, n2)) {
      return algorithms::merge_by_pairs<Site>(
          n1, n2, [&](std::size_t j, std::size_t i) { return is_before(*algorithms::ahead(first2, j), *algorithms::ahead(first1, i)); },
          [&](bool of_second, std::size_t i, std::size_t j) { merge(i, of_second ? i : i + 1, j, of_second ? j + 1 : j); });
    }
    const std::size_t parts = std::min(n, algorithms::slow_merge_parts(n, search, core::current()->pool().size()));
    std::vector<std::size_t> lefts(parts + 1);
    const auto begin_of = [&](std::size_t part) { return algorithms::begin_of_part(part, parts, n); };
    const double ticks = cost_of<Site>.ticks();
    cost_of<merge_search<Site>>.learn(ticks * static_cast<double>(search));
    algorithms::loop_at<merge_search<Site>>(parts - 1, [&](std::size_t from, std::size_t to) {
      for (; from != to; ++from) lefts[from + 1] = algorithms::from_left_of_first(begin_of(from + 1), first1, n1, first2, n2, is_before);
    });
    lefts[parts] = n1;
    // Clamped: ranges that are not sorted may contradict themselves.
    for (std::size_t part = 1; part <= parts; ++part)
      lefts[part] = std::clamp(lefts[part], lefts[part - 1], lefts[part - 1] + (begin_of(part) - begin_of(part - 1)));
    cost_of<merge_part<Site>>.learn(ticks * static_cast<double>(n) / static_cast<double>(parts));
    algorithms::loop_at<merge_part<Site>>(parts, [&](std::size_t from, std::size_t to) {
      for (; from != to; ++from) merge(lefts[from], lefts[from + 1], begin_of(from) - lefts[from], begin_of(from + 1) - lefts[from + 1]);
    });
  });
}

struct merge_function : refuses_lists, refuses_inserters_behind_two {
  using refuses_lists::operator();
  using refuses_inserters_behind_two::operator();

  template <std::random_access_iterator I1, std::sentinel_for<I1> S1, std::random_access_iterator I2, std::sentinel_for<I2> S2,
            parallel_iterator O, class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<I1, I2, O, Comp, Proj1, Proj2>
  std::ranges::merge_result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out, Comp comp = {}, Proj1 proj1 = {},
                                                  Proj2 proj2 = {}) const {
    const auto n1 = algorithms::length(first1, last1);
    const auto n2 = algorithms::length(first2, last2);
    const auto is_before = [&](auto&& of_second, auto&& of_first) {
      return static_cast<bool>(std::invoke(comp, std::invoke(proj2, static_cast<decltype(of_second)>(of_second)),
                                           std::invoke(proj1, static_cast<decltype(of_first)>(of_first))));
    };
    const auto done = [&] {
      return std::ranges::merge_result<I1, I2, O>{algorithms::ahead(first1, n1), algorithms::ahead(first2, n2),
                                                  algorithms::ahead(out, n1 + n2)};
    };
    using site = merge_pack<I1, I2, Comp, Proj1, Proj2>;
    if (n1 > 0 && n2 > 0 &&
        turns_out_slow<site>(
            n1 + n2, [&] { static_cast<void>(is_before(*first2, *first1)); }, algorithms::merges_slowly_by_pairs<site>(n1, n2))) {
      algorithms::merge_slowly<site, true>(
          first1, n1, first2, n2, is_before, [&](std::size_t from1, std::size_t to1, std::size_t from2, std::size_t to2) {
            std::ranges::merge(algorithms::ahead(first1, from1), algorithms::ahead(first1, to1), algorithms::ahead(first2, from2),
                               algorithms::ahead(first2, to2), algorithms::ahead(out, from1 + from2), std::ref(comp), std::ref(proj1),
                               std::ref(proj2));
          });
      return done();
    }
    algorithms::each_block(blocks{n1 + n2, least_merge_block}, [&](std::size_t, std::size_t from, std::size_t to) {
      const std::size_t begin = algorithms::from_left_of_first(from, first1, n1, first2, n2, is_before);
      // Clamped: ranges that are not sorted may contradict themselves.
      const std::size_t end = std::clamp(algorithms::from_left_of_first(to, first1, n1, first2, n2, is_before), begin, begin + (to - from));
      std::ranges::merge(algorithms::ahead(first1, begin), algorithms::ahead(first1, end), algorithms::ahead(first2, from - begin),
                         algorithms::ahead(first2, to - end), algorithms::ahead(out, from), std::ref(comp), std::ref(proj1),
                         std::ref(proj2));
    });
    return done();
  }
  template <std::ranges::random_access_range R1, std::ranges::random_access_range R2, parallel_iterator O, class Comp = std::ranges::less,
            class Proj1 = std::identity, class Proj2 = std::identity>
    requires std::mergeable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, O, Comp, Proj1, Proj2>
  std::ranges::merge_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>, O> operator()(
      R1&& range1, R2&& range2, O out, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
    auto result = (*this)(std::ranges::begin(range1), algorithms::end_of(range1), std::ranges::begin(range2), algorithms::end_of(range2),
                          std::move(out), std::move(comp), std::move(proj1), std::move(proj2));
    return {std::move(result.in1), std::move(result.in2), std::move(result.out)};
  }
};

/// So few are merged in fewer comparisons than it takes to find those in place.
inline constexpr std::size_t few_to_merge = 8;

/// Merges the first `half` of n elements with the others. Called by a worker if n is at least sorted_alone, or if it is slow.
template <class I, class Less>
void merge_halves(I first, std::size_t half, std::size_t n, const Less& less, bool slow) {
  if (slow && algorithms::merges_by_pairs<Less>(half, n - half)) return algorithms::merge_in_place_by_pairs(first, half, n, less);
  if (!slow && n > few_to_merge) {  // elements in place at both ends stay
    const I middle = algorithms::ahead(first, half);
    if (!less(*middle, *(middle - 1))) return;
    n = half + algorithms::bound(n - half, [&](std::size_t i) { return less(*algorithms::ahead(middle, i), *(middle - 1)); });
    const std::size_t skipped = algorithms::bound(half, [&](std::size_t i) { return !less(*middle, *algorithms::ahead(first, i)); });
    first = algorithms::ahead(first, skipped);
    half -= skipped;
    n -= skipped;
    if (half == 0 || half == n) return;  // the comparator contradicts itself
  }
  if constexpr (is_relocatable<I>) {
    const bool in_waves = !slow && n > few_to_merge;
    const std::size_t capacity = in_waves ? algorithms::room_for_waves<std::iter_value_t<I>>(half, n - half) : n;
    const raw_buffer<std::iter_value_t<I>> room{capacity, std::nothrow};
    if (room.data() != nullptr) {
      if (in_waves) return algorithms::merge_in_waves(first, half, n, room.data(), capacity, less);
      try {
        const auto search = static_cast<std::size_t>(std::bit_width(std::min(half, n - half)));
        algorithms::merge_runs(first, room.data(), half, n, less,
                               slow ? algorithms::slow_merge_parts(n, search, core::current()->pool().size()) : 0);
      } catch (...) {
        algorithms::carry(room.data(), first, n);
        throw;
      }
      return algorithms::carry_in_parts(room.data(), first, n);
    }
  } else if constexpr (is_borrowable<I>) {
    const raw_buffer<std::iter_value_t<I>> buffer{2 * n, std::nothrow};
    if (auto* const at = buffer.data(); at != nullptr) {
      algorithms::carry_in_parts(first, at, n);
      try {
        const auto search = static_cast<std::size_t>(std::bit_width(std::min(half, n - half)));
        algorithms::merge_runs(at, at + n, half, n, less,
                               slow ? algorithms::slow_merge_parts(n, search, core::current()->pool().size()) : 0);
      } catch (...) {
        algorithms::carry_back(at + n, first, n);
        throw;
      }
      return algorithms::carry_back(at + n, first, n);
    }
  }
  merge_sort_in_place<I, Less>{less, slow}.merge(first, half, n - half);
}

struct inplace_merge_function : refuses_proxies {
  using refuses_proxies::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<I, Comp, Proj> && parallel_iterator<I>
  I operator()(I first, I middle, S last, Comp comp = {}, Proj proj = {}) const {
    const I end = algorithms::end_of(first, last);
    if (first == middle || middle == end) return end;
    const auto n = static_cast<std::size_t>(end - first);
    const auto half = static_cast<std::size_t>(middle - first);
    const auto plain = algorithms::plain_iterator(first);
    const projected_less<Comp, Proj> less{comp, proj};
    const bool slow = algorithms::compares_slowly(plain, n, less, n <= too_few_to_divide ? half * (n - half) : 0,
                                                  [=] { return algorithms::merges_by_pairs<projected_less<Comp, Proj>>(half, n - half); });
    algorithms::where_worth_it(n, [&] { algorithms::merge_halves(plain, half, n, less, slow); }, slow);
    return end;
  }
  template <std::ranges::random_access_range R, class Comp = std::ranges::less, class Proj = std::identity>
    requires std::sortable<std::ranges::iterator_t<R>, Comp, Proj> && parallel_iterator<std::ranges::iterator_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> middle, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), std::move(middle), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace core::algorithms

/// merge(first1, last1, first2, last2, out, comp = less, proj1 = identity, proj2 = identity), merge(range1, range2, out, comp, proj1,
/// proj2): copies two sorted ranges into one, equal elements of the first range first, and returns the ends, as std::ranges::merge does.
/// `out` is a random-access iterator whose elements are objects, other than those merged. Several threads call comp and the
/// projections at once.
///
/// Throws what the first block that threw has thrown. Off a pool also throws what default_pool() throws. O(n) work, O(n / 1024 + log n)
/// span; O(n / P + log n) where comparisons take long: then each of P workers has one part.
inline constexpr core::algorithms::merge_function merge{};

/// inplace_merge(first, middle, last, comp = less, proj = identity), inplace_merge(range, middle, comp, proj): merges two sorted parts of a
/// range, the second of which begins at `middle`, equal elements of the first part first. Returns the end, as std::ranges::inplace_merge
/// does. Several threads call comp and proj at once. Elements need only be movable. It takes memory for those that change their places,
/// or, of two million and more that are compared quickly, for at most half of them. Without it, or where moves may throw, it swaps. Objects
/// are destroyed and made again, and elements are lost, as stable_sort says: there, where assignments alone may throw, it takes twice the
/// memory.
///
/// Throws what comp, proj and moves throw, the exception of the earliest part that threw. All elements are then in the range, in some
/// order, if moves do not throw. Off a pool also throws what default_pool() throws. O(n) work, O(n / 64 + log² n) span; by swaps O(n log n)
/// work and O(n) span.
inline constexpr core::algorithms::inplace_merge_function inplace_merge{};

}  // namespace nopal
