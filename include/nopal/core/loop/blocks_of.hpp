#pragma once

// From a body that users write to the blocks that the engine runs. Called by ../../algorithm/parallel_for.hpp and parallel_for_blocks.hpp.
// Next: loop.hpp.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What runs one block: the engine calls it by pointer, so that its code is that of a function of its own, and vectorises as the serial
/// loop.
template <class Blocks>
void run_block_of(void* blocks, std::uint64_t from, std::uint64_t to) {
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

/// May the caller run the whole loop as one block, since it is short, as far as is known, and nobody could share it or stop it? On threads
/// that work for no pool, which begin most loops after a rest: then each line that is not touched counts.
NOPAL_INLINE bool is_one_block(std::uint64_t count, iteration_cost const& cost) noexcept {
  double const ticks = cost.ticks() * static_cast<double>(count);
  // relaxed: a hint
  return count <= loop_tuning::longest_unasked && ticks > 0 && ticks < static_cast<double>(state_here()->alone.load(std::memory_order_relaxed));
}

/// Runs blocks(from, to) for parts of [0, count). `Body`: the user's, by whose type costs are remembered.
template <class Body, class Blocks>
void run_blocks(std::uint64_t count, grain g, bool exact, Blocks& blocks) {
  iteration_cost& cost = cost_of<Body>;
  if (!(exact && g.iterations > 0) && is_one_block(count, cost)) {
    std::uint64_t const began = clock_ticks();
    run_block_of<Blocks>(&blocks, 0, count);
    cost.learn(static_cast<double>(clock_ticks() - began) / static_cast<double>(count));
    return;
  }
  loop l{run_block_of<Blocks>,      &blocks,      count, std::max<std::uint64_t>(g.iterations, 1),
         exact && g.iterations > 0, cost};
  run_loop(l);
}

}  // namespace nopal::core
