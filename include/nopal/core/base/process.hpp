#pragma once

// Which process of a line of forks this is. A child of fork() has the memory of its parent and none of its threads: so whatever waits for a
// thread asks first whether that is in this process. Next: ../scheduler/process.hpp, which counts.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// 1; and in each child of a fork one more than in its parent. Written by the only thread of a new child, before any other of its threads
/// begins, so that every thread may read it.
[[gnu::visibility("hidden")]] extern constinit unsigned process_number;

}  // namespace nopal::core
