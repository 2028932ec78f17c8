#pragma once

// What waits for what in a pool, in words. Called by pool::report, and in builds with assertions by src/report/stuck.cpp, on any thread.
// Why it may read the stacks of other threads: README.md. Next: ../wait/waits_for.hpp, how a waiter describes itself;
// src/report/place.hpp, the names of functions.

#include <string>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What pool::report returns: a paragraph for each native stack of `pool` that waits, for each task that waits without one, but at its join,
/// for each thread that works for no pool and waits, and a line for each deadlock of mutexes. Any thread; stops no other. Throws
/// std::bad_alloc. O(stacks + tasks + code), with two system calls for each stack that waits, and one for each task that waits for a mutex.
NOPAL_API std::string report(pool_state const& pool);

}  // namespace nopal::core
