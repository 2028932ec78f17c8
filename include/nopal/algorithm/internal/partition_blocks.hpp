#pragma once

// Partitions in place: first what belongs to the left, then the rest. Serial, and in parallel where there is enough. Each comparison is made
// before the swaps that depend on it, so that all elements are still in the range if one throws.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// So many elements are looked at before any of them is swapped: their places fit into a byte each, and they into the first-level cache.
inline constexpr std::size_t partition_block = 64;
/// So many blocks that lie in a row belong to one part of a parallel partition.
inline constexpr std::size_t blocks_in_a_row = 16;
inline constexpr std::size_t partition_row = partition_block * blocks_in_a_row;
/// From so many elements on a partition is worth several threads; it is cut into parts of a quarter of that at least, and this many at most.
inline constexpr std::size_t parallel_partition = std::size_t{1} << 17;
inline constexpr std::size_t most_partition_parts = 64;

/// Where the last block had no more, the next one's answers are taken together before their places are told.
inline constexpr std::size_t few_misplaced = 8;

/// A block, and the places in it of those elements that belong to the other side.
template <class I>
struct misplaced {
  I block{};
  std::size_t next = 0;
  std::size_t end = 0;
  std::array<std::uint8_t, partition_block> places;

  [[nodiscard]] bool done() const { return next == end; }

  template <class Misplaced>
  NOPAL_INLINE void look(I at, const Misplaced& is_misplaced) {
    block = at;
    next = 0;
    const auto answer = [&](std::size_t i) { return static_cast<bool>(is_misplaced(*algorithms::ahead(at, i))); };
    std::size_t found = 0;
    if (end <= few_misplaced) {
      for (std::uint64_t bits = algorithms::answers_in_bits(answer); bits != 0; bits &= bits - 1)
        places[found++] = static_cast<std::uint8_t>(std::countr_zero(bits));
    } else {
      for (std::size_t i = 0; i < partition_block; ++i) {
        places[found] = static_cast<std::uint8_t>(i);
        found += answer(i) ? 1 : 0;
      }
    }
    end = found;
  }
  [[nodiscard]] NOPAL_INLINE I take() { return block + static_cast<std::iter_difference_t<I>>(places[next++]); }
};

/// What swap_blocks has done: blocks [0, left) are all to the left, [right, count) all to the right. Of those between at most one has
/// elements out of place that were looked at, and all must be looked at again.
struct met {
  std::size_t left;
  std::size_t right;
};

/// Takes blocks from the left, where `left_block(i)` is, i = 0, 1, ..., and from the right, `right_block(i)`, i = count - 1, ..., until all are
/// taken, and swaps what is out of place in them.
template <class I, class LeftBlock, class RightBlock, class Goes>
met swap_blocks(std::size_t count, const LeftBlock& left_block, const RightBlock& right_block, const Goes& goes_left) {
  misplaced<I> from_left;
  misplaced<I> from_right;
  std::size_t left = 0;       // the next block to take
  std::size_t right = count;  // one past it
  for (;;) {
    while (from_left.done()) {
      if (left == right) return {left, from_right.done() ? right : right + 1};
      from_left.look(left_block(left++), [&](auto&& x) { return !goes_left(x); });
    }
    while (from_right.done()) {
      if (left == right) return {left - 1, right};
      from_right.look(right_block(--right), goes_left);
    }
    const std::size_t pairs = std::min(from_left.end - from_left.next, from_right.end - from_right.next);
    for (std::size_t i = 0; i < pairs; ++i) std::ranges::iter_swap(from_left.take(), from_right.take());
  }
}

/// Are a few elements partitioned without a branch? As their values say, or the predicate.
template <class I, class Goes>
inline constexpr bool without_branches = is_cheap<std::iter_value_t<I>>;
template <class I, class Goes>
  requires requires { Goes::without_branches; }
inline constexpr bool without_branches<I, Goes> = Goes::without_branches;

/// A few elements. Returns where those of the right begin.
template <class I, class Goes>
I partition_few(I first, I last, const Goes& goes_left) {
  if constexpr (without_branches<I, Goes>) {
    for (I it = first; it != last; ++it) {
      const bool left = goes_left(*it);
      std::ranges::iter_swap(it, first);
      first += left ? 1 : 0;
    }
    return first;
  } else {
    for (;; ++first) {
      while (first != last && goes_left(*first)) ++first;
      do {
        if (first == last) return first;
        --last;
      } while (!goes_left(*last));
      if (first == last) return first;
      std::ranges::iter_swap(first, last);
    }
  }
}

/// By one thread. Calls the predicate for each element, and again for less than four blocks. Returns where those of the right begin.
template <class I, class Goes>
I partition_serially(I first, I last, const Goes& goes_left) {
  const std::size_t count = static_cast<std::size_t>(last - first) / partition_block;
  if (count < 2) return algorithms::partition_few(first, last, goes_left);
  // What is less than a block stays between those of the left and those of the right.
  const auto left_block = [&](std::size_t i) { return algorithms::ahead(first, i * partition_block); };
  const auto right_block = [&](std::size_t i) { return algorithms::behind(last, (count - i) * partition_block); };
  const met at = algorithms::swap_blocks<I>(count, left_block, right_block, goes_left);
  return algorithms::partition_few(left_block(at.left), right_block(at.right), goes_left);
}

/// How a parallel partition is cut: into parts, each of which has one row of each group of rows. The place of its row in a group changes at
/// random, so that no pattern in the data meets it; the places depend on the number of elements alone.
template <class I>
struct striped {
  I first;
  std::size_t parts;
  std::size_t groups;
  std::size_t seed;

  striped(I begin, std::size_t n, std::size_t round)
      : first{begin},
        parts{std::clamp<std::size_t>(n / (parallel_partition / 4), 2, most_partition_parts)},
        groups{n / (parts * partition_row)},
        seed{round} {}

  [[nodiscard]] std::size_t blocks() const { return groups * blocks_in_a_row; }
  [[nodiscard]] std::size_t elements() const { return groups * parts * partition_row; }
  /// Where block i of a part is.
  [[nodiscard]] I block(std::size_t part, std::size_t i) const {
    const std::size_t group = i / blocks_in_a_row;
    const std::size_t shift = ((group + seed) * 0x9E37'79B9'7F4A'7C15 >> 32) % parts;
    const std::size_t row = group * parts + (part + shift) % parts;
    return algorithms::ahead(first, row * partition_row + i % blocks_in_a_row * partition_block);
  }
};

/// In parallel, by a worker. A part partitions what it has by swaps within it; all then meet at nearly the same place if the elements are in no
/// order that has to do with the parts, and what lies between the first and the last of these places is partitioned again. O(n) work;
/// O(n / most_partition_parts + log n) span, O(n) at worst.
template <class I, class Goes>
I partition_parallel(I first, I last, const Goes& goes_left, std::size_t round = 0) {
  const auto n = static_cast<std::size_t>(last - first);
  if (n < parallel_partition || round == 2) return algorithms::partition_serially(first, last, goes_left);
  const striped<I> cut{first, n, round};
  std::array<met, most_partition_parts> at;
  algorithms::each_part(0, cut.parts, [&](std::size_t part) {
    const auto block = [&](std::size_t i) { return cut.block(part, i); };
    at[part] = algorithms::swap_blocks<I>(cut.blocks(), block, block, goes_left);
  });
  const I end = algorithms::ahead(first, cut.elements());
  I from = end;
  I to = first;
  for (std::size_t part = 0; part < cut.parts; ++part) {
    if (at[part].left < cut.blocks()) from = std::min(from, cut.block(part, at[part].left));
    if (at[part].right > 0) to = std::max(to, algorithms::ahead(cut.block(part, at[part].right - 1), partition_block));
  }
  const I split = algorithms::partition_parallel(from, std::max(from, to), goes_left, round + 1);
  // What was left over at the end is exchanged with as many of the right.
  const I rest = algorithms::partition_serially(end, last, goes_left);
  const auto swaps = std::min(rest - end, end - split);
  std::ranges::swap_ranges(split, split + swaps, rest - swaps, rest);
  return split + (rest - end);
}

}  // namespace nopal::core::algorithms
