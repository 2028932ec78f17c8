#pragma once

// The scans: each block is summed up, then the sums before each block are found, then each block is scanned from there. Blocks depend on
// the number of elements alone, so rounded sums have the same bits on any number of workers.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/loop/reduction.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class Op, class T, class I>
concept scans =
    std::invocable<Op&, T, std::iter_reference_t<I>> && std::invocable<Op&, T, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, std::iter_reference_t<I>>, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, T>, T> && std::constructible_from<T, std::iter_reference_t<I>> && std::copyable<T>;

/// op(x, y) that leaves x as it is: x is passed as a constant, or as a copy if op takes none.
template <class Op, class T, class Y>
NOPAL_INLINE T apply_to_copy(Op& op, const T& x, Y&& y) {
  if constexpr (std::is_invocable_v<Op&, const T&, Y>) {
    return core::joined<T>(op, x, static_cast<Y&&>(y));
  } else {
    return core::joined<T>(op, T(x), static_cast<Y&&>(y));
  }
}

/// The least block where elements take nanoseconds. Shorter ranges are scanned as the standard library does.
inline constexpr std::size_t least_scan_block = 256;
/// From so many elements on there are more blocks: their sums are then few beside the elements.
inline constexpr std::size_t many_scanned = std::size_t{1} << 14;

/// Are numbers in memory summed up?
template <class T, class I, class Op>
inline constexpr bool scans_plainly =
    commutes<Op, T> && std::is_lvalue_reference_v<std::iter_reference_t<I>> && std::is_arithmetic_v<std::iter_value_t<I>>;

/// How a scan is cut, by the number of elements and by types: into 32 to 64 blocks where few elements may take long, into 256 or more where
/// there are many.
inline blocks scan_blocks(std::size_t n, bool plainly) {
  const std::size_t size = n / (n < 1024 ? 32 : n < many_scanned ? 64 : 256);
  if (plainly || size >= least_scan_block) return blocks{n, least_scan_block};
  return blocks{n, blocks::exactly{std::max<std::size_t>(size, 1)}};
}

/// These types identify the costs that are remembered: of summing up a block, of adding two sums, of writing a block.
template <int Pass, bool Inclusive, class T, class I, class O, class Op>
struct scan_pass {};

/// Replaces each sum of one block, from sums[1] on, by that of all blocks up to it. In log n rounds: sums are complete within groups of 1, 2,
/// 4, ... blocks; a round adds the last sum of each even group to those of the odd group behind it. So few elements that take long wait for
/// few others.
template <class Site, class T, class Op>
void sum_up_behind(std::vector<std::optional<T>>& sums, Op& op) {
  const std::size_t n = sums.size() - 1;
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t rest = n % (2 * half);
    const std::size_t pairs = n / (2 * half) * half + (rest > half ? rest - half : 0);
    algorithms::loop_at<Site>(pairs, [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k != to; ++k) {
        const std::size_t before = k / half * 2 * half + half;
        std::optional<T>& sum = sums[before + 1 + k % half];
        sum.emplace(static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*sums[before]), std::move(*sum))));
      }
    });
  }
}

/// Writes, for each element, the sum of those before it (exclusive) or up to it. `init`, if there is one, comes before all. `MayBePlain`:
/// numbers in memory are summed up as such, in other blocks than values that are made on the way.
template <bool Inclusive, class T, bool MayBePlain = true, class I, class O, class Op>
void scan(I first, std::size_t n, O out, Op& op, std::optional<T> init) {
  static_assert(
      !std::is_rvalue_reference_v<std::iter_reference_t<I>>,
      "nopal: a scan reads each element twice, so it cannot move it away. Scan the elements as they are, and clear them after it.");
  if (n == 0) return;
  using first_pass = scan_pass<0, Inclusive, T, I, O, Op>;
  using between = scan_pass<1, Inclusive, T, I, O, Op>;
  using last_pass = scan_pass<2, Inclusive, T, I, O, Op>;
  constexpr bool plainly = MayBePlain && scans_plainly<T, I, Op>;
  const blocks cut = scan_blocks(n, plainly);
  std::vector<std::optional<T>> sums(cut.count);  // [block]: the sum of all before it, once it is known
  if (cut.count > 1) {
    const std::size_t shift = plainly ? 0 : 1;
    std::optional<T> begun;  // the sum of the first elements: it shows what an operation costs, unless that is known
    if constexpr (!plainly) {
      double ticks = cost_of<between>.ticks();
      if (!algorithms::is_slow(ticks, n)) {
        I it = first;
        const std::uint64_t before = loop_ticks();
        T sum = core::made_of<T>(*it);
        if (cut.size > 1) sum = core::joined<T>(op, std::move(sum), *++it);
        begun.emplace(std::move(sum));
        ticks = static_cast<double>(loop_ticks() - before);
        cost_of<between>.learn(ticks);
      }
      cost_of<first_pass>.learn(ticks * static_cast<double>(cut.size));
      cost_of<last_pass>.learn(ticks * static_cast<double>(cut.size));
    }
    algorithms::loop_at<first_pass>(cut.count - 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t block = from; block != to; ++block) {
        const I stop = algorithms::ahead(first, cut.end(block));
        I it = algorithms::ahead(first, cut.begin(block));
        const bool has_begun = block == 0 && begun;
        if (has_begun && cut.size > 1) ++it;
        T sum = has_begun ? std::move(*begun) : core::made_of<T>(*it);
        while (++it != stop) sum = core::joined<T>(op, std::move(sum), *it);
        sums[block + shift].emplace(std::move(sum));
      }
    });
    if constexpr (plainly) {
      for (std::size_t block = 0; block + 1 < cut.count; ++block) {
        std::optional<T> before = std::move(init);
        init.emplace(before ? static_cast<T>(algorithms::apply_to_copy(op, *before, std::move(*sums[block]))) : std::move(*sums[block]));
        sums[block] = std::move(before);
      }
      sums[cut.count - 1] = std::move(init);
    } else {
      if (init) sums[1].emplace(static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*init), std::move(*sums[1]))));
      sums[0] = std::move(init);
      algorithms::sum_up_behind<between>(sums, op);
    }
  } else {
    sums[0] = std::move(init);
  }
  algorithms::loop_at<last_pass>(cut.count, [&](std::size_t from, std::size_t to) {
    for (std::size_t block = from; block != to; ++block) {
      const I stop = algorithms::ahead(first, cut.end(block));
      I it = algorithms::ahead(first, cut.begin(block));
      O result = algorithms::ahead(out, cut.begin(block));
      if constexpr (Inclusive && !plainly) {
        const bool last_is_known = block + 1 < cut.count;  // and is read by the writer of the next block
        const std::size_t left = cut.end(block) - cut.begin(block) - (last_is_known ? 1 : 0);
        if (left > 0) {
          T sum = sums[block] ? static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*sums[block]), *it)) : core::made_of<T>(*it);
          for (std::size_t i = 1; i < left; ++i) {
            *result = std::as_const(sum);
            ++result;
            sum = core::joined<T>(op, std::move(sum), *++it);
          }
          *result = std::as_const(sum);
          ++result;
        }
        if (last_is_known) *result = std::as_const(*sums[block + 1]);
      } else if constexpr (Inclusive) {
        T sum = sums[block] ? core::joined<T>(op, std::move(*sums[block]), *it) : core::made_of<T>(*it);
        *result = std::as_const(sum);
        while (++it != stop) {
          sum = core::joined<T>(op, std::move(sum), *it);
          *++result = std::as_const(sum);
        }
      } else {
        T sum = std::move(*sums[block]);
        for (;;) {
          if (!plainly && it + 1 == stop) {
            *result = std::move(sum);
            break;
          }
          T next = algorithms::apply_to_copy(op, sum, *it);  // computed before `out` is written, which may be the element's own place
          *result = std::move(sum);
          if (++it == stop) break;
          sum = std::move(next);
          ++result;
        }
      }
    }
  });
}

}  // namespace nopal::core::algorithms
