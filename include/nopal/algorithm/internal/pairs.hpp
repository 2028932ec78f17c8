#pragma once

// Few elements whose comparisons take long: all pairs are compared at once, and each element is then put where its answers say. That is
// more comparisons than a sort or a merge makes, in fewer rounds. The result is that of the stable sort or merge for any true order, so it
// may depend on time, and on how many workers are free, which way is taken. Nothing is moved before all answers are there.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// At most so many elements are sorted so: of 8 that is 28 comparisons, where a merge sort makes some 17, of which some 12 follow each
/// other.
inline constexpr std::size_t most_paired = 8;
inline constexpr std::size_t most_pairs = most_paired * (most_paired - 1) / 2;
inline constexpr std::size_t sort_rounds = 11;
/// Two runs of at most so many elements each are merged so if that takes at most so many rounds, and two less than there are elements.
inline constexpr std::size_t merge_rounds = 4;
inline constexpr std::size_t most_crossed = most_paired * most_paired;
/// So many elements are sorted serially, unless all their pairs are compared at once.
inline constexpr std::size_t too_few_to_divide = 4;

inline constexpr std::size_t pairs_of(std::size_t n) { return n * (n - 1) / 2; }

/// Are so many comparisons, each of so many ticks, worth it to wake a thread for them? A serial algorithm would make about two thirds as
/// many.
inline bool worth_pairs(double ticks, std::size_t pairs) noexcept {
  return ticks * static_cast<double>(pairs) >= 4 * loop_tuning::worth_a_wake() || core::shares_by_schedule();
}
/// Returns how many workers may compare pairs of n elements at once; 1 where no pairs of them are worth it. The type `Site` identifies the
/// cost of a comparison.
template <class Site>
std::size_t free_for_pairs(std::size_t n) {
  if (n < 3 || !algorithms::worth_pairs(cost_of<Site>.ticks(), algorithms::pairs_of(std::min(n, most_paired)))) return 1;
  return core::free_workers();
}
/// Do so many workers, or those that are free, sort n elements sooner if they compare all pairs?
template <class Site>
bool sorts_by_pairs(std::size_t n, std::size_t workers) {
  return n > 2 && n <= most_paired && workers > 1 && algorithms::pairs_of(n) <= sort_rounds * workers &&
         algorithms::worth_pairs(cost_of<Site>.ticks(), algorithms::pairs_of(n));
}
template <class Site>
bool sorts_by_pairs(std::size_t n) {
  return n <= most_paired && algorithms::sorts_by_pairs<Site>(n, algorithms::free_for_pairs<Site>(n));
}
/// Do they merge two runs sooner so? `most`: in so many rounds.
template <class Site>
bool merges_by_pairs(std::size_t left_n, std::size_t right_n, std::size_t workers, std::size_t most = merge_rounds) {
  if (workers < 2 || left_n > most_paired || right_n > most_paired) return false;
  const std::size_t pairs = left_n * right_n;
  const std::size_t rounds = (pairs + workers - 1) / workers;
  return pairs > 0 && rounds <= most && rounds + 2 <= left_n + right_n && algorithms::worth_pairs(cost_of<Site>.ticks(), pairs);
}
template <class Site>
bool merges_by_pairs(std::size_t left_n, std::size_t right_n) {
  return left_n <= most_paired && right_n <= most_paired &&
         algorithms::merges_by_pairs<Site>(left_n, right_n, algorithms::free_for_pairs<Site>(left_n + right_n));
}

/// The cost of a comparison, as the loop over pairs has measured it.
template <class Site>
struct pair_of {};

/// Sets answers[k] = ask(k) for k = 0, ..., count - 1, all at once. Each answer is an object of its own, so threads write them at once.
/// What this has measured holds for `Site`. Throws what serial execution would have thrown first.
template <class Site, class Ask>
void ask_at_once(std::size_t count, bool* answers, const Ask& ask) {
  cost_of<pair_of<Site>>.learn(cost_of<Site>.ticks());
  algorithms::loop_at<pair_of<Site>>(count, [&](std::size_t k, std::size_t end) {
    for (; k != end; ++k) answers[k] = ask(k);
  });
  cost_of<Site>.learn(cost_of<pair_of<Site>>.ticks());
}

/// Where each of few elements comes from.
template <std::size_t Most>
using few_places = std::array<std::uint8_t, Most>;

/// Moves the element that is at from[k] to k, for all k. By swaps: each element is in the range if one throws. `from` is a permutation.
template <class I, std::size_t Most>
void arrange(const I& first, std::size_t n, const few_places<Most>& from) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t at = from[k];
    while (at < k) at = from[at];  // it was swapped away, to where that place's element came from
    if (at != k) std::ranges::iter_swap(algorithms::ahead(first, k), algorithms::ahead(first, at));
  }
}

/// Sorts stably, where sorts_by_pairs. By a worker.
template <class I, class Less>
void sort_by_pairs(const I& first, std::size_t n, const Less& less) {
  std::array<bool, most_pairs> answers{};
  algorithms::ask_at_once<Less>(algorithms::pairs_of(n), answers.data(), [&](std::size_t i) {
    std::size_t j = 1;  // pairs i < j, by j: as an insertion sort meets them
    while (i >= j) i -= j++;
    return less(*algorithms::ahead(first, j), *algorithms::ahead(first, i));
  });
  std::array<std::uint8_t, most_paired> rank{};
  const bool* answer = answers.data();
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) ++rank[*answer++ ? i : j];
  }
  // By rank, then by place: that is a permutation even if the comparator is inconsistent and several have the same rank.
  few_places<most_paired> from{};
  std::size_t found = 0;
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      if (rank[i] == r) from[found++] = static_cast<std::uint8_t>(i);
    }
  }
  algorithms::arrange(first, n, from);
}

/// Calls is_before(j, i) at once for all elements j of the right run and i of the left one. Then calls take(of_right, i, j) for each
/// element of the merged run, in order: so many of the left and of the right were taken before. By a worker.
template <class Site, class IsBefore, class Take>
void merge_by_pairs(std::size_t left_n, std::size_t right_n, const IsBefore& is_before, const Take& take) {
  std::array<bool, most_crossed> answers{};
  algorithms::ask_at_once<Site>(left_n * right_n, answers.data(),
                                [&](std::size_t k) { return static_cast<bool>(is_before(k % right_n, k / right_n)); });
  std::size_t i = 0;
  std::size_t j = 0;
  while (i + j < left_n + right_n) {
    const bool of_right = j < right_n && (i == left_n || answers[i * right_n + j]);
    take(of_right, i, j);
    ++(of_right ? j : i);
  }
}

/// As merge_runs, where merges_by_pairs.
template <class From, class To, class Less>
void merge_runs_by_pairs(const From& from, const To& to, std::size_t half, std::size_t n, const Less& less) {
  const From middle = algorithms::ahead(from, half);
  try {
    algorithms::merge_by_pairs<Less>(
        half, n - half, [&](std::size_t j, std::size_t i) { return less(*algorithms::ahead(middle, j), *algorithms::ahead(from, i)); },
        [&](bool of_right, std::size_t i, std::size_t j) noexcept {
          algorithms::relocate(of_right ? algorithms::ahead(middle, j) : algorithms::ahead(from, i), algorithms::ahead(to, i + j));
        });
  } catch (...) {  // of a comparison: nothing has been moved
    algorithms::carry(from, to, n);
    throw;
  }
}

/// Merges the first `half` of n elements with the others in place, where merges_by_pairs. By a worker.
template <class I, class Less>
void merge_in_place_by_pairs(const I& first, std::size_t half, std::size_t n, const Less& less) {
  const I middle = algorithms::ahead(first, half);
  few_places<2 * most_paired> from{};
  algorithms::merge_by_pairs<Less>(
      half, n - half, [&](std::size_t j, std::size_t i) { return less(*algorithms::ahead(middle, j), *algorithms::ahead(first, i)); },
      [&](bool of_right, std::size_t i, std::size_t j) { from[i + j] = static_cast<std::uint8_t>(of_right ? half + j : i); });
  algorithms::arrange(first, n, from);
}

}  // namespace nopal::core::algorithms
