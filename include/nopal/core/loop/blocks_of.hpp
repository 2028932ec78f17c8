#pragma once

// From a body that users write to the blocks that the engine runs. Called by ../../algorithm/parallel_for.hpp and parallel_for_blocks.hpp.
// Next: loop.hpp.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What runs one block: the engine calls it by pointer, so that its code is that of a function of its own, and vectorises as the serial
/// loop.
template <class Blocks>
[[gnu::noinline]] void run_block_of(void* blocks, std::uint64_t from, std::uint64_t to) {
  (*static_cast<Blocks*>(blocks))(from, to);
}

/// How a block calls the body. A small closure of plain values and references is copied for each block: then no store of its own can
/// change what it has captured, as far as the compiler knows, and the loop vectorises as if it were written there. Every other body is
/// called where it is.
template <class Body, class... Index>
inline constexpr bool copied_for_a_block = false;
template <class Body, class... Index>
  requires(std::is_object_v<Body> && std::is_trivially_copyable_v<Body> && std::is_copy_constructible_v<Body>)
inline constexpr bool copied_for_a_block<Body, Index...> = sizeof(Body) <= 64 && std::is_invocable_v<Body const&, Index...>;
template <class Body, bool Copied>
using body_of_block = std::conditional_t<Copied, std::remove_const_t<Body>, Body&>;

/// The loops with this body have cost so much. One for each type of body in the process.
template <class Body>
inline constinit iteration_cost cost_of{};

/// May the caller run a loop that takes so many ticks without asking anybody? On threads that work for no pool, which begin most loops after a
/// rest: then each line that is not touched counts.
NOPAL_INLINE bool is_alone_for(double ticks) noexcept {
  return ticks < static_cast<double>(state_here()->alone.load(std::memory_order_relaxed));  // relaxed: a hint
}
/// Runs a loop that is short, as far as is known, in two blocks, and asks nobody. The first shows what it costs: bodies of one type may be as
/// different as what they call. False: it is long, or nothing is known; `l` is what is left.
template <class Blocks>
NOPAL_INLINE bool runs_alone(loop& l) {
  double const n = static_cast<double>(l.count);
  if (l.exact || l.count == 0 || l.count > loop_tuning::longest_unasked || l.cost.ticks() <= 0 || !is_alone_for(l.cost.ticks() * n))
    return false;
  std::uint64_t const first = std::min(l.count, to_grain(l.count / loop_tuning::first_part, l.grain));
  std::uint64_t const began = clock_ticks();
  run_block_of<Blocks>(l.body, 0, first);
  if (first == l.count) return true;
  double const took = static_cast<double>(clock_ticks() - began);
  if (!is_alone_for(took / loop_tuning::cold * n / static_cast<double>(first))) [[unlikely]] {
    l.cost.learn(took / static_cast<double>(first));
    l.from = first;
    return false;
  }
  run_block_of<Blocks>(l.body, first, l.count);
  l.cost.learn(static_cast<double>(clock_ticks() - began) / n);
  return true;
}

/// Runs blocks(from, to) for parts of [0, count). `Body`: the user's, by whose type costs are remembered.
template <class Body, class Blocks>
void run_blocks(std::uint64_t count, grain g, bool exact, Blocks& blocks) {
  loop l{run_block_of<Blocks>, &blocks, count, std::max<std::uint64_t>(g.iterations, 1), exact && g.iterations > 0, cost_of<Body>};
  if (!runs_alone<Blocks>(l)) run_loop(l);
}

}  // namespace nopal::core
