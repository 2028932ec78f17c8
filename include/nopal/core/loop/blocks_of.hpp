#pragma once

// From a body that users write to the blocks that the engine runs. Called by ../../algorithm/parallel_for.hpp and parallel_for_blocks.hpp.
// Next: loop.hpp.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/loop/loop.hpp"

namespace nopal::core {

/// What runs one block: the engine calls it by pointer, so that its code is that of a function of its own, and vectorises as the serial loop.
template <class Blocks>
void run_block_of(void* blocks, std::uint64_t from, std::uint64_t to) {
  (*static_cast<Blocks*>(blocks))(from, to);
}

/// The loops with this body have cost so much. One for each type of body in the process.
template <class Body>
inline constinit iteration_cost cost_of{};

/// Runs blocks(from, to) for parts of [0, count). `Body`: the user's, by whose type costs are remembered.
template <class Body, class Blocks>
void run_blocks(std::uint64_t count, grain g, bool exact, Blocks& blocks) {
  loop l{run_block_of<Blocks>, &blocks, count, std::max<std::uint64_t>(g.iterations, 1), exact && g.iterations > 0, cost_of<Body>};
  run_loop(l);
}

}  // namespace nopal::core
