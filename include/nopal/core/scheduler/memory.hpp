#pragma once

// How much memory the native stacks and the task frames of a pool may hold: pool_options::memory_limit. A recursion without an end grows
// these. It ends here with a message, before the machine is out of memory. due.md, "Memory that nothing frees". Checked only where a stack
// or a segment of an arena is made.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
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

// Memory that nothing uses goes back to the system about a second after the pool was busy. A worker that goes to sleep with much of it asks
// the pool's timer to look again later. If the worker still sleeps then, the timer wakes it for a moment to give the memory back, since
// only its owner touches what a worker has. The timer gives back what the pool's lists hold. Called by search.hpp, which sleeps, and
// submission.hpp, which leaves a worker. Next: worker.hpp, how worker and timer agree; ../wait/timer.hpp.

/// The worker's thread is about to sleep, at the base of `mine`. Gives all its free stacks but some to the pool. If it has slept for long
/// and was woken for that, gives all else that nothing uses back to the system.
void spare_before_sleep(worker& w, stack& mine) noexcept;
/// An external caller is about to leave the worker, whose thread still sleeps: notes what there is to give back later. A few loads if that
/// is little.
void note_spare_memory(worker& w) noexcept;
/// The pool holds more free segments or stacks than an idle one keeps: asks the timer to look at them, also if no worker ever sleeps. One
/// load if the timer was asked already. `pool`: the pool_state. Any worker.
void note_free_memory(void* pool) noexcept;

// For LeakSanitizer, which looks for pointers only on the stacks of threads that it knows. The process may end while native stacks of a
// pool hold frames; what these point to has not leaked. Called by scheduler.hpp. This is a side path: nothing comes after it.

struct pool_state;

/// Calls f() when the process ends by exit, before LeakSanitizer looks, if that is there.
void call_before_leak_check(void (*f)() noexcept) noexcept;
/// The process ends, and the pool stays: LeakSanitizer, if it is there, looks for pointers in the pool's native stacks too, and in the
/// stacks that the pool's threads and callers have left for them.
void note_for_leak_check(pool_state const& pool) noexcept;

}  // namespace nopal::core
