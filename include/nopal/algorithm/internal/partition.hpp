#pragma once

// Partitions in place: the elements for which a predicate holds, `goes_left`, first, then the rest. Each comparison is made before the
// swaps that depend on it, so all elements are still in the range if one throws.
//
// partition_parallel is the partition; it is serial for few elements. partition_slowly is for predicates that take long: it asks about all
// elements in parallel first, and then makes the same swaps. So the order does not depend on time.
//
// divide_in_room and divide_in_place are stable_partition, when it is known which elements stay in front: by a buffer and back, or by
// rotations.

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/reverse.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A block: elements that are classified before any of them is swapped. Their places fit into a byte each, and they fit into the
/// first-level cache.
inline constexpr std::size_t partition_block = 64;
/// Blocks in a row that belong to one part of a parallel partition.
inline constexpr std::size_t blocks_in_a_row = 16;
inline constexpr std::size_t partition_row = partition_block * blocks_in_a_row;
inline constexpr std::size_t most_partition_parts = 64;

/// If the last block had no more misplaced elements than this, the answers of the next are taken together before their places are listed.
inline constexpr std::size_t few_misplaced = 8;

/// A block and the places of its elements that belong to the other side.
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

/// The result of swap_blocks: blocks [0, left) belong to the left, [right, count) to the right. Of those between, at most one has misplaced
/// elements that are known; all must be classified again.
struct met {
  std::size_t left;
  std::size_t right;
};

/// Takes blocks from the left, left_block(i) for i = 0, 1, ..., and from the right, right_block(i) for i = count - 1, ..., until all are
/// taken, and swaps their misplaced elements.
template <class I, class LeftBlock, class RightBlock, class Goes>
met swap_blocks(std::size_t count, const LeftBlock& left_block, const RightBlock& right_block, const Goes& goes_left) {
  misplaced<I> from_left;
  misplaced<I> from_right;
  std::size_t left = 0;       // the next block to take
  std::size_t right = count;  // one past the next block to take from the right
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

/// Are a few elements partitioned without a branch? Depends on their values, or on the predicate.
template <class I, class Goes>
inline constexpr bool without_branches = is_cheap<std::iter_value_t<I>>;
template <class I, class Goes>
  requires requires { Goes::without_branches; }
inline constexpr bool without_branches<I, Goes> = Goes::without_branches;

/// Partitions a few elements. Returns where the right side begins.
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

/// Partitions on one thread. Calls the predicate for each element, and again for less than four blocks of them. Returns where the right
/// side begins.
template <class I, class Goes>
I partition_serially(I first, I last, const Goes& goes_left) {
  const std::size_t count = static_cast<std::size_t>(last - first) / partition_block;
  if (count < 2) return algorithms::partition_few(first, last, goes_left);
  // Elements that fill no block stay between the sides.
  const auto left_block = [&](std::size_t i) { return algorithms::ahead(first, i * partition_block); };
  const auto right_block = [&](std::size_t i) { return algorithms::behind(last, (count - i) * partition_block); };
  const met at = algorithms::swap_blocks<I>(count, left_block, right_block, goes_left);
  return algorithms::partition_few(left_block(at.left), right_block(at.right), goes_left);
}

/// How a parallel partition is cut: each part has one row of each group of rows. The place of its row in the group changes pseudo-randomly,
/// so that no pattern in the data fits it. It depends only on the number of elements.
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
  /// Returns where block i of a part is.
  [[nodiscard]] I block(std::size_t part, std::size_t i) const {
    const std::size_t group = i / blocks_in_a_row;
    const std::size_t shift = ((group + seed) * 0x9E37'79B9'7F4A'7C15 >> 32) % parts;
    const std::size_t row = group * parts + (part + shift) % parts;
    return algorithms::ahead(first, row * partition_row + i % blocks_in_a_row * partition_block);
  }
};

/// Partitions in parallel. Called by a worker. Each part swaps within its rows. All parts meet at nearly the same place unless the order of
/// the elements has to do with the parts. What is between the first and the last of these places is partitioned again. O(n) work; O(n /
/// most_partition_parts + log n) span, O(n) at worst.
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
  // The rest that fills no group is exchanged with as many elements of the right side.
  const I rest = algorithms::partition_serially(end, last, goes_left);
  const auto swaps = std::min(rest - end, end - split);
  std::ranges::swap_ranges(split, split + swaps, rest - swaps, rest);
  return split + (rest - end);
}

/// Elements with the answers about them. A class around the iterator, so that none of its functions is looked up among those of elements.
template <class I>
struct with_answers {
  /// Has the answer for its value. A swap swaps the element, too.
  struct iterator {
    using iterator_concept = std::random_access_iterator_tag;
    using value_type = bool;
    using difference_type = std::iter_difference_t<I>;

    bool* answer = nullptr;
    I element{};

    bool operator*() const { return *answer; }  // no reference: nobody can swap answers alone
    iterator& operator+=(difference_type n) {
      answer += n;
      element += n;
      return *this;
    }
    iterator& operator-=(difference_type n) {
      answer -= n;
      element -= n;
      return *this;
    }
    iterator& operator++() { return *this += 1; }
    iterator& operator--() { return *this -= 1; }
    iterator operator++(int) { return std::exchange(*this, *this + 1); }
    friend iterator operator+(iterator it, difference_type n) { return it += n; }
    friend iterator operator-(iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) { return static_cast<difference_type>(a.answer - b.answer); }
    friend bool operator==(const iterator& a, const iterator& b) { return a.answer == b.answer; }
    friend auto operator<=>(const iterator& a, const iterator& b) { return a.answer <=> b.answer; }
    friend void iter_swap(const iterator& a, const iterator& b) noexcept(noexcept(std::ranges::iter_swap(a.element, b.element))) {
      std::ranges::iter_swap(a.element, b.element);
      std::ranges::swap(*a.answer, *b.answer);
    }
  };
};

/// The predicate of answers about elements that are cheap, or not: their order is the one that asking them would give.
template <bool Cheap>
struct answered {
  static constexpr bool without_branches = Cheap;
  bool operator()(bool answer) const { return answer; }
};

/// The cost of an answer, as the loop over elements has measured it.
template <class Goes>
struct answer_of {};

/// Asks about all elements in parallel. Then divide(begin, end, goes_left) partitions them by the answers and returns where the right side
/// begins. O(n) work, O(log n) span, and that of `divide`. Returns false, and has done nothing, if there is no memory.
template <class I, class Goes, class Divide>
bool partition_answers(I first, std::size_t n, const Goes& goes_left, I& middle, const Divide& divide) {
  const std::unique_ptr<bool[]> memory{new (std::nothrow) bool[n]};
  if (memory == nullptr) return false;
  bool* const answers = memory.get();
  algorithms::loop_at<answer_of<Goes>>(n, [=, &goes_left](std::size_t i, std::size_t end) {
    for (; i != end; ++i) answers[i] = static_cast<bool>(goes_left(*algorithms::ahead(first, i)));
  });
  const typename with_answers<I>::iterator begin{answers, first};
  middle = divide(begin, algorithms::ahead(begin, n), answered<is_cheap<std::iter_value_t<I>>>{}).element;
  return true;
}

/// As partition_parallel. Called by a worker if n is at least parallel_partition.
template <class I, class Goes>
I partition_slowly(I first, I last, const Goes& goes_left) {
  const auto divide = [](auto from, auto to, const auto& goes) { return algorithms::partition_parallel(from, to, goes); };
  I middle = first;
  if (algorithms::partition_answers(first, static_cast<std::size_t>(last - first), goes_left, middle, divide)) return middle;
  return algorithms::partition_parallel(first, last, goes_left);
}

/// Fewer elements are carried by the caller alone.
inline constexpr std::size_t parallel_division = 2048;

/// Called by a worker if there are at least parallel_division elements. O(n) work, O(n / 1024 + log n) span.
template <class I>
void divide_in_room(I first, const kept& stay, std::iter_value_t<I>* room) {
  const auto carry_block = [&](std::size_t block) noexcept {
    const std::size_t before = stay.before(block);
    auto* left = room + before;
    auto* right = room + stay.count() + (stay.cut().begin(block) - before);
    stay.each(block, [&](std::size_t i) { algorithms::relocate(algorithms::ahead(first, i), left++); });
    stay.each_other(block, [&](std::size_t i) { algorithms::relocate(algorithms::ahead(first, i), right++); });
  };
  if (stay.cut().n < parallel_division) {
    for (std::size_t block = 0; block < stay.cut().count; ++block) carry_block(block);
  } else {
    algorithms::each_part(0, stay.cut().count, carry_block);  // no stop request may end it
  }
  algorithms::carry_back(room, first, stay.cut().n);
}

/// Divides the elements [from, to) and returns where those that do not stay begin. Called by a worker if there are at least
/// parallel_division. O(n log n) work, O(log² n) span.
template <class I>
std::size_t divide_in_place(I first, std::size_t from, std::size_t to, const kept& stay) {
  if (to - from == 1) return stay.stays(from) ? to : from;
  const std::size_t middle = from + (to - from) / 2;
  std::size_t left = from;
  std::size_t right = middle;
  const auto divide_left = [&] { left = algorithms::divide_in_place(first, from, middle, stay); };
  const auto divide_right = [&] { right = algorithms::divide_in_place(first, middle, to, stay); };
  if (to - from < parallel_division) {
    divide_left();
    divide_right();
    std::ranges::rotate(algorithms::ahead(first, left), algorithms::ahead(first, middle), algorithms::ahead(first, right));
  } else {
    nopal::parallel_invoke(divide_left, divide_right);
    algorithms::rotate_all(algorithms::ahead(first, left), middle - left, right - left);
  }
  return left + (right - middle);
}

}  // namespace nopal::core::algorithms
