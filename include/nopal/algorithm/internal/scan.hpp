#pragma once

// The scans: each block is summed up, then the sums before each block are found, then each block is scanned from there. Blocks depend on
// the number of elements alone, so rounded sums have the same bits on any number of workers.

#include <algorithm>
#include <atomic>
#include <bit>
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
concept scans = std::invocable<Op&, T, std::iter_reference_t<I>> && std::invocable<Op&, T, T> &&
                std::convertible_to<std::invoke_result_t<Op&, T, std::iter_reference_t<I>>, T> &&
                std::convertible_to<std::invoke_result_t<Op&, T, T>, T> && std::copyable<T>;

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
template <int Pass, bool Inclusive, bool Plainly, class T, class I, class O, class Op>
struct scan_pass {};

/// Replaces each sum of one block, from sums[1] on, by that of all blocks up to it, in log n + 1 rounds (R. E. Ladner and M. J. Fischer, Parallel
/// prefix computation, 1980). First each second block gets the sum of its pair. Then sums of pairs are complete within groups of 1, 2, 4, ...
/// pairs; a round adds the last sum of each even group to those of the odd group behind it. Last, the other blocks add what is before them. So
/// few elements that take long wait for few others, and n blocks take n / 4 * log n + 3 n / 4 additions.
template <class Site, class T, class Op>
void sum_up_behind(std::vector<std::optional<T>>& sums, Op& op) {
  // In a round, groups of `half` sums that are `stride` apart are added to. `first`: how many sums come before all groups.
  const auto round = [&](std::size_t additions, std::size_t half, std::size_t stride, std::size_t first) {
    algorithms::loop_at<Site>(additions, [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k != to; ++k) {
        const std::size_t before = first + (k / half * 2 + 1) * half * stride;
        std::optional<T>& sum = sums[before + (1 + k % half) * stride];
        sum.emplace(static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*sums[before]), std::move(*sum))));
      }
    });
  };
  const std::size_t n = sums.size() - 1;
  const std::size_t pairs = n / 2;
  round(pairs, 1, 1, 0);
  for (std::size_t half = 1; half < pairs; half *= 2) {
    const std::size_t rest = pairs % (2 * half);
    round(pairs / (2 * half) * half + (rest > half ? rest - half : 0), half, 2, 0);
  }
  round((n - 1) / 2, 1, 1, 1);
}

/// The sums up to the blocks of a scan, where these are taken one after the other: grouped as sum_up_behind groups them.
template <class T>
class sums_in_order {
 public:
  explicit sums_in_order(std::size_t blocks) : groups_(std::bit_width(blocks)) {}

  /// The sum of all blocks up to `block`, whose own is `sum`. `before`: that up to the block before it. Called for one block after the other.
  template <class Op>
  T up_to(std::size_t block, T sum, const std::optional<T>& before, Op& op) {
    if (block % 2 == 0) {
      left_.emplace(std::as_const(sum));
      if (block != 0) sum = static_cast<T>(algorithms::apply_to_copy(op, *before, std::move(sum)));
      return static_cast<T&&>(sum);  // of a type without T(T&&), GCC 12 would return a copy by T(T&)
    }
    sum = static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*left_), std::move(sum)));
    std::size_t level = 0;
    bool ends_group = true;  // of 2^level pairs
    for (std::size_t rest = block / 2; rest != 0; rest >>= 1, ++level) {
      if (rest % 2 != 0) {
        sum = static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*groups_[level]), std::move(sum)));
      } else if (ends_group) {
        groups_[level].emplace(std::as_const(sum));
        ends_group = false;
      }
    }
    if (ends_group) groups_[level].emplace(std::as_const(sum));
    return static_cast<T&&>(sum);  // as above
  }

 private:
  std::optional<T> left_;                 // the block's own, of the first of a pair
  std::vector<std::optional<T>> groups_;  // [level]: the last group of 2^level pairs that has a right neighbour as large
};

/// The elements of a scan, block by block. `Plainly`: see scans_plainly.
template <bool Inclusive, class T, bool Plainly, class I, class O, class Op>
struct scanned_blocks {
  const blocks& cut;
  const I& first;
  const O& out;
  Op& op;

  /// The sum of a block. `begun`: that of its first two elements, if it is known.
  T sum(std::size_t block, std::optional<T> begun = std::nullopt) const {
    const I stop = algorithms::ahead(first, cut.end(block));
    I it = algorithms::ahead(first, cut.begin(block));
    if (begun) ++it;
    T sum = begun ? *std::move(begun) : core::made_of<T>(*it);
    while (++it != stop) sum = core::joined<T>(op, std::move(sum), *it);
    return sum;
  }

  /// Writes a block. `before`: the sum of all blocks before it; nothing for the first block of an inclusive scan without an initial value. It
  /// is moved away, unless the scan is inclusive and elements may take long: then it stays. `up_to`: the sum up to the end of this block, if
  /// it is known; only read in that case.
  void write(std::size_t block, std::optional<T>& before, const T* up_to = nullptr) const {
    const I stop = algorithms::ahead(first, cut.end(block));
    I it = algorithms::ahead(first, cut.begin(block));
    O result = algorithms::ahead(out, cut.begin(block));
    if constexpr (Inclusive && !Plainly) {
      const std::size_t left = cut.end(block) - cut.begin(block) - (up_to ? 1 : 0);
      if (left > 0) {
        T sum = before ? static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*before), *it)) : core::made_of<T>(*it);
        for (std::size_t i = 1; i < left; ++i) {
          *result = std::as_const(sum);
          ++result;
          sum = core::joined<T>(op, std::move(sum), *++it);
        }
        *result = std::as_const(sum);
        ++result;
      }
      if (up_to) *result = std::as_const(*up_to);
    } else if constexpr (Inclusive) {
      T sum = before ? core::joined<T>(op, std::move(*before), *it) : core::made_of<T>(*it);
      *result = std::as_const(sum);
      while (++it != stop) {
        sum = core::joined<T>(op, std::move(sum), *it);
        *++result = std::as_const(sum);
      }
    } else {
      T sum = std::move(*before);
      for (;;) {
        if (!Plainly && it + 1 == stop) {
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

  /// write() and sum() in one pass, but for the last element of a block that may take long and is scanned inclusively.
  T write_and_sum(std::size_t block, const std::optional<T>& before) const {
    const I stop = algorithms::ahead(first, cut.end(block));
    I it = algorithms::ahead(first, cut.begin(block));
    O result = algorithms::ahead(out, cut.begin(block));
    T sum = core::made_of<T>(*it);
    if (Inclusive && !before) {
      *result = std::as_const(sum);
      while (++it != stop) {
        sum = core::joined<T>(op, std::move(sum), *it);
        *++result = std::as_const(sum);
      }
    } else if constexpr (Inclusive) {
      const I last = stop - 1;
      if (!Plainly && it == last) return sum;
      T up_to = algorithms::apply_to_copy(op, std::as_const(*before), *it);
      while (it != last) {
        *result = std::as_const(up_to);
        ++result;
        sum = core::joined<T>(op, std::move(sum), *++it);
        if (Plainly || it != last) up_to = core::joined<T>(op, std::move(up_to), *it);
      }
      if constexpr (Plainly) *result = std::as_const(up_to);
    } else {
      T up_to = *before;
      while (it + 1 != stop) {
        T next = algorithms::apply_to_copy(op, up_to, *it);
        *result = std::move(up_to);
        up_to = std::move(next);
        ++result;
        sum = core::joined<T>(op, std::move(sum), *++it);
      }
      *result = std::move(up_to);
    }
    return sum;
  }
};

/// Writes, for each element, the sum of those before it (exclusive) or up to it. `init`, if there is one, comes before all. `MayBePlain`:
/// numbers in memory are summed up as such, in other blocks than values that are made on the way.
///
/// Where elements are quick, a thread that comes to the next block in order writes it at once: one thread alone takes one pass. A thief sums
/// up blocks that are further on; a second pass writes these.
template <bool Inclusive, class T, bool MayBePlain, class I, class O, class Op>
void scan_in_blocks(I first, std::size_t n, O out, Op& op, std::optional<T> init) {
  if (n == 0) return;
  constexpr bool plainly = MayBePlain && scans_plainly<T, I, Op>;
  using first_pass = scan_pass<0, Inclusive, plainly, T, I, O, Op>;
  using between = scan_pass<1, Inclusive, plainly, T, I, O, Op>;
  using last_pass = scan_pass<2, Inclusive, plainly, T, I, O, Op>;
  const blocks cut = scan_blocks(n, plainly);
  const scanned_blocks<Inclusive, T, plainly, I, O, Op> all{cut, first, out, op};
  if (cut.count == 1) return algorithms::loop_at<last_pass>(1, [&](std::size_t, std::size_t) { all.write(0, init); });

  std::optional<T> begun;  // the sum of the first two elements: it shows what an operation costs, unless that is known
  bool in_order = true;    // is the next block in order written at once?
  if constexpr (!plainly) {
    double ticks = cost_of<between>.ticks();
    in_order = !algorithms::is_slow(ticks, n) || cost_of<between>.doubts();
    if (in_order) {
      const auto add_up = [&] {
        I it = first;
        const std::uint64_t before = loop_ticks();
        T sum = core::made_of<T>(*it);
        sum = core::joined<T>(op, std::move(sum), *++it);
        if (cut.size > 1) begun.emplace(std::move(sum));  // else it only shows the cost
        return static_cast<double>(loop_ticks() - before);
      };
      ticks = add_up();
      in_order = !algorithms::is_slow(ticks, n);
      if (!in_order && ticks < loop_tuning::may_be_cold()) {
        ticks = std::min(ticks, add_up());
        in_order = !algorithms::is_slow(ticks, n);
      }
      cost_of<between>.learn(ticks);
    }
    cost_of<first_pass>.learn(ticks * static_cast<double>(cut.size - 1));
    cost_of<last_pass>.learn(ticks * static_cast<double>(cut.size - 1));
  }

  std::vector<std::optional<T>> sums(cut.count);  // [block + 1]: the block's own; in the end [block]: that of all blocks before it
  std::optional<T> before = init;                 // the sum of all blocks that are written
  sums_in_order<T> groups{plainly ? 0 : cut.count};
  // How many blocks are written, in order. The thread that comes to block `written` uses `before` and `groups`, as the one left them that
  // wrote the block before: its acquire load pairs with that one's release store.
  std::atomic<std::size_t> written{0};
  // Else block 0 is written at once; or summing up a block takes no time, and one that takes long would be taken for all.
  const bool adds_init_at_once = !in_order && cut.size > 1;
  algorithms::loop_at<first_pass>(cut.count, [&](std::size_t from, std::size_t to) {
    for (std::size_t block = from; block != to; ++block) {
      const bool last = block + 1 == cut.count;
      if (!in_order || written.load(std::memory_order_acquire) != block) {
        if (last) continue;
        std::optional<T>& sum = sums[block + 1];
        sum.emplace(all.sum(block, block == 0 ? std::move(begun) : std::nullopt));
        if (adds_init_at_once && block == 0 && init)
          sum.emplace(static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*init), std::move(*sum))));
        continue;
      }
      if (last) {
        all.write(block, before);
      } else {
        const T& own = sums[block + 1].emplace(all.write_and_sum(block, before));
        if constexpr (plainly) {
          before.emplace(before ? algorithms::apply_to_copy(op, std::as_const(*before), T(own)) : own);
        } else {
          T sum = own;
          if (block == 0 && init) sum = static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*init), std::move(sum)));
          before.emplace(groups.up_to(block, std::move(sum), before, op));
          if constexpr (Inclusive) *algorithms::ahead(out, cut.end(block) - 1) = std::as_const(*before);
        }
      }
      written.store(block + 1, std::memory_order_release);
    }
  });
  const std::size_t done = written.load(std::memory_order_relaxed);  // the loop has ended
  if (done == cut.count) return;
  if constexpr (plainly) {
    sums[done] = std::move(before);
    for (std::size_t block = done; block + 1 < cut.count; ++block) {
      if (sums[block]) sums[block + 1].emplace(algorithms::apply_to_copy(op, std::as_const(*sums[block]), std::move(*sums[block + 1])));
    }
  } else {
    if (init && !adds_init_at_once)
      sums[1].emplace(static_cast<T>(algorithms::apply_to_copy(op, std::as_const(*init), std::move(*sums[1]))));
    sums[0] = std::move(init);
    algorithms::sum_up_behind<between>(sums, op);
  }
  algorithms::loop_at<last_pass>(cut.count - done, [&](std::size_t from, std::size_t to) {
    for (std::size_t block = done + from; block != done + to; ++block) {
      all.write(block, sums[block], block + 1 < cut.count ? std::addressof(*sums[block + 1]) : nullptr);
    }
  });
}

/// The scan, where T can be made of an element.
template <bool Inclusive, class T, bool MayBePlain = true, class I, class O, class Op>
void scan(I first, std::size_t n, O out, Op& op, std::optional<T> init) {
  static_assert(
      !std::is_rvalue_reference_v<std::iter_reference_t<I>>,
      "nopal: a scan reads each element twice, so it cannot move it away. Scan the elements as they are, and clear them after it.");
  constexpr bool made_of_elements = std::constructible_from<T, std::iter_reference_t<I>>;
  static_assert(
      made_of_elements,
      "nopal: a scan writes what `init` is, and makes it of elements too. Give an init that can be made of an element, or make each "
      "element one first, with transform_inclusive_scan or transform_exclusive_scan.");
  if constexpr (made_of_elements) algorithms::scan_in_blocks<Inclusive, T, MayBePlain>(first, n, out, op, std::move(init));
}

}  // namespace nopal::core::algorithms
