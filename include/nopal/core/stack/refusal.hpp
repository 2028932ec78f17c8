#pragma once

// What a pool prints, once, when there is no native stack to get: how many there are, which limit was met, and what to raise. Called by
// stack_pool.hpp. What then waits with its thread: README.md, "Without memory".

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Prints that line on stderr. `stacks`: how many the pool has, of `size` bytes each. `error`: why the system refused one more; ENOMEM too
/// if stack_region.hpp refused it. Any thread.
NOPAL_COLD void print_refusal(std::uint64_t stacks, std::size_t size, int error) noexcept;

/// The thread that forks holds the lock during the fork: scheduler/process.cpp.
void hold_refusal() noexcept;
void release_refusal() noexcept;

}  // namespace nopal::core
