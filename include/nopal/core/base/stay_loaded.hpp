#pragma once

// The shared object that holds nopal's code is never unloaded once it has made a pool. Callers' threads keep a thread key of it, the
// program may call its signal handlers, and the threads of the default pool run in it. Called by ../scheduler/process.hpp. This is a side
// path: nothing comes after it.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Keeps the object that holds this code for the life of the process, also when its last handle is closed. Does nothing if that object is
/// the program itself, or in a program that is linked statically. Not under a lock: it takes the loader's, and a thread that holds the
/// loader's lock may make a pool.
void stay_loaded() noexcept;

}  // namespace nopal::core
