#pragma once

// Partitions by predicates that take long: all answers first, in parallel, then the partition itself, by answers. It ends as the partition of
// partition_blocks.hpp does, swap by swap: so how elements end up does not depend on time.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/partition_blocks.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/loop_clock.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/loop/sharing.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Is it worth it to ask about n elements in parallel before anything is moved, if one takes so many ticks?
inline bool is_slow(double ticks, std::size_t n) noexcept {
  return n > 1 && ticks >= loop_tuning::worth_an_answer() && ticks * static_cast<double>(n) >= loop_tuning::worth_values() && could_share();
}

/// Is slow(ticks) true of what one of n calls takes, as ask() is? `Site`: by its type that is remembered. Does not ask where it is known to be.
template <class Site, class Ask, class Slow>
bool turns_out(std::size_t n, const Ask& ask, const Slow& slow) {
  if (n < 2) return false;
  if (shares_by_schedule()) return n < parallel_partition;
  if (slow(cost_of<Site>.ticks())) return true;
  const std::uint64_t before = loop_ticks();
  ask();
  cost_of<Site>.learn(loop_ticks() - before, 1);
  return slow(cost_of<Site>.ticks());
}
/// How long ask() takes: whether n such calls are worth to be made in parallel. As turns_out.
template <class Site, class Ask>
bool turns_out_slow(std::size_t n, const Ask& ask) {
  return algorithms::turns_out<Site>(n, ask, [n](double ticks) { return algorithms::is_slow(ticks, n); });
}

/// The answer about an element that was at a place: twice the place, and 1 if it belongs to the left.
template <bool Cheap>
struct answered {
  static constexpr bool without_branches = Cheap;
  bool operator()(std::size_t answer) const { return answer % 2 != 0; }
};

/// Asks about all elements in parallel; then divide(places, places + n, goes_left) partitions the answers, and says where those of the right begin; and
/// the elements follow. O(n) work; O(log n) span for the predicate, O(n) for some nanoseconds each. False, and nothing has happened: there is no
/// memory for it.
template <class I, class Goes, class Divide>
bool partition_answers(I first, std::size_t n, const Goes& goes_left, I& middle, const Divide& divide) {
  const std::unique_ptr<std::size_t[]> from{new (std::nothrow) std::size_t[n]};
  if (from == nullptr) return false;
  std::size_t* const places = from.get();
  algorithms::loop(n, [=, &goes_left](std::size_t i, std::size_t end) {
    for (; i != end; ++i) places[i] = 2 * i + (goes_left(*algorithms::ahead(first, i)) ? 1 : 0);
  });
  middle =
      algorithms::ahead(first, static_cast<std::size_t>(divide(places, places + n, answered<is_cheap<std::iter_value_t<I>>>{}) - places));
  for (std::size_t i = 0; i < n; ++i) {  // along each cycle: swaps, so that no element is ever elsewhere
    std::size_t at = i;
    for (std::size_t next; (next = places[at] / 2) != i; at = next) {
      std::ranges::iter_swap(algorithms::ahead(first, at), algorithms::ahead(first, next));
      places[at] = 2 * at;
    }
    places[at] = 2 * at;
  }
  return true;
}

/// As partition_parallel. By a worker if n is parallel_partition or more.
template <class I, class Goes>
I partition_slowly(I first, I last, const Goes& goes_left) {
  const auto divide = [](auto from, auto to, const auto& goes) { return algorithms::partition_parallel(from, to, goes); };
  I middle = first;
  if (algorithms::partition_answers(first, static_cast<std::size_t>(last - first), goes_left, middle, divide)) return middle;
  return algorithms::partition_parallel(first, last, goes_left);
}

}  // namespace nopal::core::algorithms
