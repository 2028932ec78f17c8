#pragma once

// A loop whose blocks come back to the workers that ran them last time: ../../affinity.hpp. Each worker has a list of blocks, and helps
// with the others' when its own is empty. Next: loop.hpp, the engine of all other loops.

#include <cstdint>
#include <memory>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class kept_blocks;

struct kept_blocks_delete {
  NOPAL_API void operator()(kept_blocks* k) const noexcept;
};
/// What is remembered between two loops; null: nothing yet.
using kept_blocks_ptr = std::unique_ptr<kept_blocks, kept_blocks_delete>;

/// Calls run(body, from, to) for blocks that together are [0, count), at most 8 for each worker, each of a worker's own before those of
/// others. Off a pool in the default pool. Where nothing is stolen the caller runs them all. Throws what serial execution would have thrown
/// first, std::bad_alloc, and what default_pool() throws. One loop at a time may use `keep`. O(blocks) besides the blocks.
NOPAL_API void run_kept_blocks(kept_blocks_ptr& keep, std::uint64_t count, void (*run)(void* body, std::uint64_t from, std::uint64_t to),
                               void* body);

}  // namespace nopal::core
