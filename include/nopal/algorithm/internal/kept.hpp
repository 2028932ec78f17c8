#pragma once

// Which elements stay: shared by copy_if, remove, remove_if, unique, partition_copy and stable_partition. The predicate is called once for
// each element and its answers are kept, one bit each, before anything is moved: if it throws, nothing has been moved.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The answers for n elements, and the number of those that stay before each block.
class kept {
 public:
  /// Calls stays(i) for each i of [unasked, n). Elements before `unasked`, at most one, stay. Throws what stays throws, and std::bad_alloc.
  template <class Stays>
  kept(std::size_t n, const Stays& stays, std::size_t unasked = 0) : cut_{n}, bits_((n + 63) / 64) {
    std::uint64_t* const words = bits_.data();
    std::uninitialized_fill_n(words, (n + 63) / 64, std::uint64_t{0});
    if (unasked > 0 && n > 0) words[0] = 1;
    algorithms::loop(n > unasked ? n - unasked : 0, [&stays, words, unasked](std::size_t i, std::size_t end) {
      i += unasked;
      end += unasked;
      while (i < end) {
        const std::size_t word = i / 64;
        const std::size_t begin = i % 64;
        const std::size_t stop = std::min(end - word * 64, std::size_t{64});
        std::uint64_t bits = 0;
        if (stop - begin == 64) {
          bits = algorithms::answers_in_bits([&](std::size_t k) { return stays(word * 64 + k); });
        } else {
          for (std::size_t k = begin; k < stop; ++k) bits |= std::uint64_t{stays(word * 64 + k) ? 1U : 0U} << k;
        }
        i = word * 64 + stop;
        if (stop - begin == 64) {
          words[word] = bits;
        } else {
          // Relaxed: another stretch may own a part of this word. The join of the loop orders the reads.
          std::atomic_ref<std::uint64_t>{words[word]}.fetch_or(bits, std::memory_order::relaxed);
        }
      }
    });
    each_block(cut_, [&](std::size_t block, std::size_t from, std::size_t to) {
      std::size_t count = 0;
      for (std::size_t word = from / 64; word < (to + 63) / 64; ++word) count += static_cast<std::size_t>(std::popcount(words[word]));
      before_[block + 1] = count;
    });
    before_[0] = 0;
    for (std::size_t block = 0; block < cut_.count; ++block) before_[block + 1] += before_[block];
  }

  [[nodiscard]] const blocks& cut() const { return cut_; }
  [[nodiscard]] std::size_t before(std::size_t block) const { return before_[block]; }
  [[nodiscard]] std::size_t count() const { return before_[cut_.count]; }
  [[nodiscard]] bool stays(std::size_t i) const { return (bits_.data()[i / 64] >> i % 64 & 1) != 0; }

  /// Calls f(i) for each element of a block that stays; instead all(i), if given, for 64 of them in a row.
  template <class F, class All = std::nullptr_t>
  void each(std::size_t block, const F& f, [[maybe_unused]] const All& all = nullptr) const {
    for (std::size_t word = cut_.begin(block); word < cut_.end(block); word += 64) {
      std::uint64_t bits = bits_.data()[word / 64];
      if (bits == ~std::uint64_t{0}) {
        if constexpr (std::is_null_pointer_v<All>) {
          for (std::size_t i = word; i != word + 64; ++i) f(i);
        } else {
          all(word);
        }
        continue;
      }
      for (; bits != 0; bits &= bits - 1) f(word + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
  /// Calls f(i) for each element of a block that does not stay.
  template <class F>
  void each_other(std::size_t block, const F& f) const {
    const std::size_t end = cut_.end(block);
    for (std::size_t word = cut_.begin(block); word < end; word += 64) {
      const std::uint64_t all = end - word < 64 ? (std::uint64_t{1} << (end - word)) - 1 : ~std::uint64_t{0};
      for (std::uint64_t bits = ~bits_.data()[word / 64] & all; bits != 0; bits &= bits - 1)
        f(word + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

 private:
  blocks cut_;
  raw_buffer<std::uint64_t> bits_;
  std::array<std::size_t, most_blocks + 1> before_;
};

/// Moves the elements that stay to the front, in order, and returns their number. Each block closes its own gaps in parallel; then the
/// blocks move up, one after another.
template <class I>
std::size_t close_gaps(I first, const kept& stay) {
  each_block(stay.cut(), [&](std::size_t block, std::size_t from, std::size_t) {
    I to = algorithms::ahead(first, from);
    const auto move_one = [&](std::size_t i) {
      const I it = algorithms::ahead(first, i);
      if (it != to) *to = std::ranges::iter_move(it);
      ++to;
    };
    stay.each(block, move_one, [&](std::size_t i) {
      const I it = algorithms::ahead(first, i);
      to = it != to ? std::ranges::move(it, algorithms::ahead(it, 64), to).out : algorithms::ahead(to, 64);
    });
  });
  for (std::size_t block = 0; block < stay.cut().count; ++block) {
    const I from = algorithms::ahead(first, stay.cut().begin(block));
    const I to = algorithms::ahead(first, stay.before(block));
    if (from != to) std::ranges::move(from, algorithms::ahead(from, stay.before(block + 1) - stay.before(block)), to);
  }
  return stay.count();
}

}  // namespace nopal::core::algorithms
