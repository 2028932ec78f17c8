#pragma once

// How pools depend on their process: its first pool, and its forks. README.md, "The process". Called by scheduler.hpp. Next: fork_trap.hpp,
// for a fork in a job.

#include <mutex>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Guards which pool is the default pool, and whether its threads run. A thread that forks holds it during the fork. Taken before every
/// other lock of the library.
extern constinit std::mutex default_pool_changes;

/// What the first pool of a process needs: the object that holds this code stays loaded. Also counts forks, if there was no memory for that
/// when the object was loaded. By every thread that makes a pool; not under a lock. Throws std::bad_alloc.
void prepare_process();

}  // namespace nopal::core
