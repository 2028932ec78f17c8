#pragma once

// What inclusive_scan and exclusive_scan share: each block is summed up, then the sums before each block, then each block is scanned from there.
// Blocks depend on the number of elements alone, so that rounded sums have the same bits on any number of workers.

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

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/core/loop/leaves.hpp"
#include "nopal/core/loop/loop_clock.hpp"
#include "nopal/core/loop/made_of.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class Op, class T, class I>
concept scans =
    std::invocable<Op&, T, std::iter_reference_t<I>> && std::invocable<Op&, T, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, std::iter_reference_t<I>>, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, T>, T> && std::constructible_from<T, std::iter_reference_t<I>> && std::copyable<T>;

/// op(x, y) that leaves x as it is: of x as a constant, or of a copy if op takes none.
template <class Op, class T, class Y>
NOPAL_INLINE T apply_to_copy(Op& op, const T& x, Y&& y) {
  if constexpr (std::is_invocable_v<Op&, const T&, Y>) {
    return core::joined<T>(op, x, static_cast<Y&&>(y));
  } else {
    return core::joined<T>(op, T(x), static_cast<Y&&>(y));
  }
}

/// A block is at least so long where no element takes more than some nanoseconds: what is shorter is scanned as the standard library does.
inline constexpr std::size_t least_scan_block = 256;
/// So many are cut into more blocks: the sums of blocks are then few beside the elements.
inline constexpr std::size_t many_scanned = std::size_t{1} << 14;

/// Sums of numbers that lie in memory.
template <class T, class I, class Op>
inline constexpr bool scans_plainly =
    commutes<Op, T> && std::is_lvalue_reference_v<std::iter_reference_t<I>> && std::is_arithmetic_v<std::iter_value_t<I>>;

/// How a scan is cut, by the number of elements and by types. 32 to 64 blocks where few elements may take long, 256 or more of many.
inline blocks scan_blocks(std::size_t n, bool plainly) {
  const std::size_t size = n / (n < 1024 ? 32 : n < many_scanned ? 64 : 256);
  if (plainly || size >= least_scan_block) return blocks{n, least_scan_block};
  return blocks{n, blocks::exactly{std::max<std::size_t>(size, 1)}};
}

/// By whose types the costs of a scan are remembered: of what a block comes to, of what two sums come to, of what a block is written.
template <int Pass, bool Inclusive, class T, class I, class O, class Op>
struct scan_pass {};

/// Each sum of one block, sums[1] and those behind it, becomes that of all blocks up to it. In log n rounds: a sum that is right within 1, 2, 4, ... blocks is so within
/// twice as many once that of the half before it has been put in front. So few elements that take long wait for few others.
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

/// Writes the sums of what is before each element (exclusive) or up to it. `init` is what comes before all, if anything. `MayBePlain`: numbers
/// that lie in memory are summed up as such, in other blocks than what is made on the way.
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
  std::vector<std::optional<T>> sums(cut.count);  // [block]: of all before it, once they are known
  if (cut.count > 1) {
    const std::size_t shift = plainly ? 0 : 1;
    std::optional<T> begun;  // the first elements of all: they show what an operation costs, unless it is known to take long
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
        const bool last_is_known = block + 1 < cut.count;  // and read by who writes the next block
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
          T next = algorithms::apply_to_copy(op, sum, *it);  // before the element is written over, where `out` is where they come from
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
