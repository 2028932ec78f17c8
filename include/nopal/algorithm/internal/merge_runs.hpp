#pragma once

// Merges two sorted runs of a range into a buffer, or of a buffer into the range, as relocate moves elements. If the comparator throws, the
// rest of both runs follows unmerged: so every element is moved to the place that was promised.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// From so many elements on a merge is cut into parts of at least a quarter of that, at most so many.
inline constexpr std::size_t parallel_merge = std::size_t{1} << 15;
inline constexpr std::size_t most_merge_parts = 64;
/// The least part where comparisons take long.
inline constexpr std::size_t slow_merge = 4;

/// Returns the first i of [0, n) for which is_before(i) is false, else n; it is true for all before. O(log n) calls.
template <class IsBefore>
std::size_t bound(std::size_t n, const IsBefore& is_before) {
  std::size_t first = 0;
  while (n > 0) {
    const std::size_t half = n / 2;
    if (is_before(first + half)) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

/// Returns how many of the first k elements of a stable merge come from the left run. O(log k) comparisons.
template <class L, class R, class Less>
std::size_t from_left_of_first(std::size_t k, L left, std::size_t left_n, R right, std::size_t right_n, const Less& less) {
  std::size_t low = k > right_n ? k - right_n : 0;
  std::size_t high = std::min(k, left_n);
  while (low < high) {
    const std::size_t i = low + (high - low) / 2;
    if (less(*algorithms::ahead(right, k - i - 1), *algorithms::ahead(left, i))) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  return low;
}

/// Moves n elements as relocate does.
template <class From, class To>
void carry(From from, To to, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) algorithms::relocate(algorithms::ahead(from, i), algorithms::ahead(to, i));
}

/// Returns where a part of n elements begins, or, for part == parts, where the last one ends. No part is more than one element longer than
/// another.
inline std::size_t begin_of_part(std::size_t part, std::size_t parts, std::size_t n) {
  return n / parts * part + std::min(part, n % parts);
}

/// Returns in how many parts n elements are carried.
inline std::size_t parts_to_carry(std::size_t n) { return n < parallel_merge ? 1 : std::min(n / (parallel_merge / 4), most_merge_parts); }

/// As carry, in parallel; no stop request ends it. Called by a worker if n is at least parallel_merge.
template <class From, class To>
void carry_in_parts(From from, To to, std::size_t n) {
  const std::size_t parts = parts_to_carry(n);
  algorithms::each_part(0, parts, [=](std::size_t part) noexcept {
    const std::size_t begin = algorithms::begin_of_part(part, parts, n);
    algorithms::carry(algorithms::ahead(from, begin), algorithms::ahead(to, begin), algorithms::begin_of_part(part + 1, parts, n) - begin);
  });
}

/// As carry_in_parts, from a buffer to a range whose elements may be only is_borrowable. Throws what the first part that threw has thrown: what
/// it was still to carry has been destroyed in the buffer then, and is lost.
template <class T, class To>
void carry_back(T* from, const To& to, std::size_t n) {
  if constexpr (is_relocatable<To>) {
    algorithms::carry_in_parts(from, to, n);
  } else {
    struct in_buffer {
      T* at;
      T* end;
      ~in_buffer() { std::destroy(at, end); }
    };
    const std::size_t parts = parts_to_carry(n);
    std::array<std::exception_ptr, most_merge_parts> thrown;
    algorithms::each_part(0, parts, [&](std::size_t part) noexcept {
      const std::size_t begin = algorithms::begin_of_part(part, parts, n);
      To place = algorithms::ahead(to, begin);
      in_buffer left{from + begin, from + algorithms::begin_of_part(part + 1, parts, n)};
      try {
        for (; left.at != left.end; ++place) {
          *place = static_cast<T&&>(*left.at);
          std::destroy_at(left.at++);
        }
      } catch (...) {
        thrown[part] = core::caught();
      }
    });
    for (std::exception_ptr& e : thrown) {
      if (e != nullptr) std::rethrow_exception(std::move(e));
    }
  }
}

/// A merge on one thread. Its destructor moves the rest of the runs.
template <class From, class To, class Less>
struct run_merge {
  From left;
  From left_end;
  From right;
  From right_end;
  To to;
  const Less& less;

  ~run_merge() {
    for (; left != left_end; ++left, static_cast<void>(++to)) algorithms::relocate(left, to);
    for (; right != right_end; ++right, static_cast<void>(++to)) algorithms::relocate(right, to);
  }

  void merge() {
    using T = std::iter_value_t<From>;
    for (;;) {
      auto steps = std::min(left_end - left, right_end - right);  // so many steps cannot exhaust a run
      if (steps == 0) return;
      do {
        const bool is_right = less(*right, *left);
        if constexpr (is_cheap<T> && std::is_pointer_v<From>) {
          algorithms::relocate_copy(is_right ? *right : *left, to);
          right += is_right ? 1 : 0;
          left += is_right ? 0 : 1;
        } else if (is_right) {
          algorithms::relocate(right, to);
          ++right;
        } else {
          algorithms::relocate(left, to);
          ++left;
        }
        ++to;
      } while (--steps != 0);
    }
  }
};

/// Returns how many parts a merge of n elements has where comparisons take long: one for each of the workers that do it, or several if they
/// are long. It takes `search` comparisons to find where a part begins.
inline std::size_t slow_merge_parts(std::size_t n, std::size_t search, std::size_t workers) {
  return workers > 1 && n > 16 * search * workers ? 4 * workers : workers;
}

/// Merges [from, from + half) and [from + half, from + n) into [to, to + n), stably. If it throws, all elements are there too; the
/// exception is that of the first part that threw. Called by a worker if n is at least parallel_merge, or if `less` is slow: then it is cut
/// into at most so many parts. O(n) work, O(n / most_merge_parts + log n) span.
template <class From, class To, class Less>
void merge_runs(From from, To to, std::size_t half, std::size_t n, const Less& less, std::size_t slow_parts) {
  const bool slow = slow_parts > 0;
  const From middle = algorithms::ahead(from, half);
  const From end = algorithms::ahead(from, n);
  const std::size_t parts = std::min(slow ? std::min(n / slow_merge, slow_parts) : n / (parallel_merge / 4), most_merge_parts);
  if (parts < 2 || (n < parallel_merge && !slow)) {
    run_merge<From, To, Less> one{from, middle, middle, end, to, less};
    if (less(*middle, *(middle - 1))) one.merge();
    return;
  }
  const auto begin_of = [&](std::size_t part) { return algorithms::begin_of_part(part, parts, n); };
  std::array<std::size_t, most_merge_parts + 1> lefts;
  try {
    const bool in_order = !less(*middle, *(middle - 1));
    lefts[0] = 0;
    const auto find = [&](std::size_t part) {
      const std::size_t begin = begin_of(part);
      lefts[part] = in_order ? std::min(begin, half) : algorithms::from_left_of_first(begin, from, half, middle, n - half, less);
    };
    if (slow) {
      algorithms::each_part(1, parts + 1, find);
    } else {
      for (std::size_t part = 1; part <= parts; ++part) find(part);
    }
    // Clamped: an inconsistent comparator may contradict itself.
    for (std::size_t part = 1; part <= parts; ++part)
      lefts[part] = std::clamp(lefts[part], lefts[part - 1], lefts[part - 1] + (begin_of(part) - begin_of(part - 1)));
  } catch (...) {
    algorithms::carry(from, to, n);
    throw;
  }
  std::array<std::exception_ptr, most_merge_parts> thrown;
  std::atomic<std::size_t> first_thrown{parts};
  algorithms::each_part(0, parts, [&](std::size_t part) noexcept {
    const std::size_t begin = begin_of(part);
    const std::size_t end_here = begin_of(part + 1);
    run_merge<From, To, Less> one{algorithms::ahead(from, lefts[part]),
                                  algorithms::ahead(from, lefts[part + 1]),
                                  algorithms::ahead(middle, begin - lefts[part]),
                                  algorithms::ahead(middle, end_here - lefts[part + 1]),
                                  algorithms::ahead(to, begin),
                                  less};
    // Relaxed, as the exchange: a hint to later parts. The join of the parts orders the reads after it.
    if (part > first_thrown.load(std::memory_order::relaxed)) return;
    try {
      one.merge();
    } catch (...) {
      thrown[part] = core::caught();
      std::size_t before = first_thrown.load(std::memory_order::relaxed);
      while (part < before && !first_thrown.compare_exchange_weak(before, part, std::memory_order::relaxed)) {
      }
    }
  });
  const std::size_t failed = first_thrown.load(std::memory_order::relaxed);
  if (failed < parts) std::rethrow_exception(thrown[failed]);
}

}  // namespace nopal::core::algorithms
