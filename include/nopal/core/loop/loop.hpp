#pragma once

// The engine of parallel_for: blocks of a loop, split where a thief requests work. It knows the body as a function pointer, called once for
// each block: so the engine is compiled once, and the body as the serial loop would be. README.md has the story. Called by
// ../../algorithm/parallel_for.hpp. Next: pace.hpp, how long a block is; offer.hpp, how the later part is offered; sharing.hpp, when.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// One run of a loop. It is in the frame of the function that called it, which returns when all parts have ended.
struct loop {
  using block_function = void (*)(void* body, std::uint64_t from, std::uint64_t to);

  block_function const run;  ///< runs the iterations [from, to), in order; on many workers at once
  void* const body;
  std::uint64_t const count;  ///< iterations, from 0
  std::uint64_t const grain;  ///< all blocks but the last have a multiple of this; at least 1
  bool const exact;           ///< all blocks but the last have exactly `grain`
  iteration_cost& cost;
  /// Iterations from here on begin no more: something before them has thrown. The part that throws lowers it; all parts read it. relaxed:
  /// it only saves work, and the branches carry what was thrown.
  std::atomic<std::uint64_t> end{count};
  std::uint64_t from = 0;  ///< iterations before it have run
};

/// Runs it to its end. Any thread: one that works for no pool runs it alone, or enters the default pool once the loop has turned out long.
/// Throws what serial execution would have thrown first, once all parts have ended; and what default_pool() throws.
NOPAL_API void run_loop(loop& l);

}  // namespace nopal::core
