#pragma once

// Which k elements would come first if all were sorted: what partial_sort and partial_sort_copy do before they sort. If k is small, a part
// of the range gives a bound, and one pass leaves the few that come before that.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/partition_blocks.hpp"
#include "nopal/algorithm/internal/quick_sort.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/algorithm/internal/sort_common.hpp"
#include "nopal/algorithm/sort.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The part whose k-th element bounds the others: k times the root of n / k, so that it and what comes before that bound are about as long.
/// 0: it would be no small part.
inline std::size_t bounding_part(std::size_t k, std::size_t n) { return n >= 1024 && k <= n / 64 ? k << (std::bit_width(n / k) / 2) : 0; }

/// Of n elements puts the first k before the others, 0 < k < n. O(n) expected work.
template <class I, class Less>
void select_first(I first, std::size_t k, std::size_t n, const Less& less) {
  quick_sort<I, Less> how{less};
  how.slow = algorithms::compares_slowly(first, n, how.less);
  const auto select = [&] {
    std::size_t left = n;
    if (const std::size_t part = bounding_part(k, n); part > 0) {
      how.select(first, part, k - 1);
      const I bound = algorithms::ahead(first, k - 1);
      const auto goes_left = [&](auto&& x) { return less(x, *bound); };
      const I rest = algorithms::ahead(first, k);
      const I last = algorithms::ahead(first, n);
      left = static_cast<std::size_t>(
          (how.slow ? algorithms::partition_slowly(rest, last, goes_left) : algorithms::partition_parallel(rest, last, goes_left)) - first);
    }
    if (left > k) how.select(first, left, k);
  };
  algorithms::where_worth_it(n, select, how.slow);
}

/// The places of the first k of n elements, as those are sorted, 0 < k < n, and some more behind them. Throws also std::bad_alloc.
template <class I, class Less>
std::unique_ptr<std::size_t[]> places_of_first(const I& first, std::size_t k, std::size_t n, const Less& less) {
  auto by_place = [&](std::size_t a, std::size_t b) { return less(*algorithms::ahead(first, a), *algorithms::ahead(first, b)); };
  std::identity itself;
  using by = projected_less<decltype(by_place), std::identity>;
  const std::size_t part = bounding_part(k, n);
  std::size_t count = part > 0 ? part : n;
  std::unique_ptr<std::size_t[]> places{new std::size_t[count]};
  algorithms::loop(count, [to = places.get()](std::size_t i, std::size_t end) { std::iota(to + i, to + end, i); });
  algorithms::select_first(places.get(), k, count, by{by_place, itself});
  if (part > 0) {
    const std::size_t bound = places[k];
    const kept before{n - part, [&](std::size_t i) { return by_place(part + i, bound); }};
    count = k + before.count();
    std::unique_ptr<std::size_t[]> more{new std::size_t[count]};
    std::copy_n(places.get(), k, more.get());
    algorithms::each_block(before.cut(), [&](std::size_t block, std::size_t, std::size_t) {
      std::size_t* to = more.get() + k + before.before(block);
      before.each(block, [&](std::size_t i) { *to++ = part + i; });
    });
    places = std::move(more);
    if (count > k) algorithms::select_first(places.get(), k, count, by{by_place, itself});
  }
  algorithms::sort_all(places.get(), k, by_place, itself);
  return places;
}

}  // namespace nopal::core::algorithms
