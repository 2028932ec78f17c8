#pragma once

// A worker's thread in the child of a fork: a job has forked, and its thread is the only one there. That thread works for no pool any more.
// The job may exec, exit, or use pools that are made in the child; but the frames of nopal below it, to which it would return, need the
// worker. So the thread's state is one that says so; in place of the worker there is memory that faults. Called by process.hpp and by
// ../stack/stack_overflow.hpp, whose handler explains the fault. This is a side path: nothing comes after it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// In the child of a fork, by its only thread: if the thread works for a pool, it works for none from now on. Calls nothing but the kernel.
void fall_into_fork_trap() noexcept;
/// True if such a thread's job has returned and touched its worker at `address`. Any thread, also in a signal handler.
bool is_fork_trap(void const* address) noexcept;

}  // namespace nopal::core
