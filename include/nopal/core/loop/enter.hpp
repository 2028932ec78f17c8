#pragma once

// How a loop on a thread that works for no pool enters the default pool. Called by loop.cpp and fixed_tree.hpp. Next:
// ../scheduler/external_caller.hpp.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Runs what(arg) on a worker of the default pool, in the place of a sleeping one if there is one. False: none sleeps, and `rest`, the
/// ticks that it will take, are too few to hand it to a worker's thread; nothing has happened. Throws what `what` throws, and what
/// default_pool() throws. By a thread that works for no pool.
NOPAL_API NOPAL_COLD bool enter_default_pool(void (*what)(void* arg), void* arg, double rest);

}  // namespace nopal::core
