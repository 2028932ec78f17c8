#pragma once

// How much memory the native stacks and the task frames of a pool may hold: pool_options::memory_limit. A recursion without an end grows
// these. It ends here with a message, before the machine is out of memory. due.md, "Memory that nothing frees". Checked only where a stack
// or a segment of an arena is made.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// As many stacks as there are in `pool`, a pool_state, have been made: ends the program with a message if stacks and frames hold more than
/// the limit. Returns how many stacks may be made before the next check. Any thread; O(stacks) system calls.
std::uint64_t check_memory_of_stacks(void* pool) noexcept;
/// The arena of `w` is about to grow for `n` bytes of a task with that frame::parent_word: as check_memory_of_stacks, for frames and
/// scratch. What needs more than the next segment has is checked afterwards: it may throw std::bad_alloc. O(1); where it ends the program,
/// O(tasks).
void check_memory_of_frames(fork_state const& w, std::size_t n, std::uintptr_t parent_word) noexcept;

}  // namespace nopal::core
