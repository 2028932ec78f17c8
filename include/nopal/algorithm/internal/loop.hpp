#pragma once

// How the algorithms loop: over stretches of any length, where the result does not depend on them, or over blocks that depend only on the
// number of elements, where it does. And whether a call takes so long that a few of them are worth several threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// The function as a stretch of a loop calls it with Args: its own copy, if the function is small and plain (core/loop/loop.hpp). The
/// compiler then knows that no element which the stretch writes is a part of it.
template <class... Args, class F>
NOPAL_INLINE core::body_of_block<F, core::copied_for_a_block<F, Args...>> for_stretch(F& f) {
  return static_cast<core::source_of_body<F, core::copied_for_a_block<F, Args...>>>(f);
}
/// The value as a stretch uses it: its own copy of a number or pointer.
template <class T>
using value_for_stretch = std::conditional_t<std::is_scalar_v<T>, const T, const T&>;

/// Calls body(first, last) for stretches that together are [0, n). Throws what serial execution would have thrown first.
template <class Body>
void loop(std::size_t n, Body&& body) {
  nopal::parallel_for_blocks(std::size_t{0}, n, body);
}

/// As loop. The type `Site` identifies the cost of an iteration that is remembered.
template <class Site, class Body>
void loop_at(std::size_t n, Body&& body) {
  auto part = [&](std::uint64_t from, std::uint64_t to) { body(static_cast<std::size_t>(from), static_cast<std::size_t>(to)); };
  core::run_blocks<Site>(n, grain{0}, true, part);
}

/// A cut into blocks, each of a multiple of 64 elements but for the last.
inline constexpr std::size_t most_blocks = 1024;
struct blocks {
  std::size_t n;
  std::size_t size;
  std::size_t count;

  explicit blocks(std::size_t elements, std::size_t least = 64)
      : n{elements}, size{(std::max(least, (n + most_blocks - 1) / most_blocks) + 63) / 64 * 64}, count{(n + size - 1) / size} {}

  /// As a constructor's argument: blocks of exactly so many elements.
  struct exactly {
    std::size_t size;
  };
  blocks(std::size_t elements, exactly each) : n{elements}, size{each.size}, count{(n + size - 1) / size} {}

  [[nodiscard]] std::size_t begin(std::size_t block) const { return block * size; }
  [[nodiscard]] std::size_t end(std::size_t block) const { return std::min(n, (block + 1) * size); }
};

/// Calls body(block, first, last) for each block. Throws as loop does.
template <class Body>
void each_block(const blocks& cut, Body&& body) {
  algorithms::loop(cut.count, [&](std::size_t first, std::size_t last) {
    for (; first != last; ++first) body(first, cut.begin(first), cut.end(first));
  });
}

/// From so many elements on a partition is worth several threads: it is cut into parts of at least a quarter of that.
inline constexpr std::size_t parallel_partition = std::size_t{1} << 17;

/// Are n calls worth being made in parallel before anything is moved, if one takes so many ticks?
inline bool is_slow(double ticks, std::size_t n) noexcept {
  return n > 1 && ticks >= loop_tuning::worth_an_answer() && ticks * static_cast<double>(n) >= loop_tuning::worth_values() && could_share();
}

/// Returns slow(ticks) of what one of n calls takes. ask() makes one such call to find out, unless it is known to be slow. The type `Site`
/// identifies the cost that is remembered. `Repeats`: ask() may be called once more, where cold memory may have made a quick call slow.
/// `measured`: if the calls are made in parallel the caller measures them, and `Site` learns what they have taken. Then none is in vain.
template <class Site, bool Repeats = false, class Ask, class Slow>
bool turns_out(std::size_t n, const Ask& ask, const Slow& slow, bool measured = false) {
  if (n < 2) return false;
  if (shares_by_schedule()) return n < parallel_partition;
  iteration_cost& cost = cost_of<Site>;
  if (slow(cost.ticks()) && (measured || !cost.doubts())) return true;
  const auto asked = [&] {
    const std::uint64_t before = loop_ticks();
    ask();
    return loop_ticks() - before;
  };
  std::uint64_t ticks = asked();
  if (Repeats && slow(static_cast<double>(ticks)) && static_cast<double>(ticks) < loop_tuning::may_be_cold())
    ticks = std::min(ticks, asked());
  cost.learn(ticks, 1);
  return slow(cost.ticks());
}
/// Returns whether n calls that take as long as ask() are worth being made in parallel. As turns_out; ask() has no effect.
template <class Site, class Ask>
bool turns_out_slow(std::size_t n, const Ask& ask, bool measured = false) {
  return algorithms::turns_out<Site, true>(n, ask, [n](double ticks) { return algorithms::is_slow(ticks, n); }, measured);
}

}  // namespace nopal::core::algorithms
