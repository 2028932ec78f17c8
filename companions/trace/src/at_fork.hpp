#pragma once

// A thread that forks holds the lock of the traces during the fork: trace_files.cpp, in its fork_hook.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

void hold_traces() noexcept;
void release_traces() noexcept;
/// In the child of a fork, under the lock: the child does not write spans that the parent's threads have recorded.
void forget_spans_outside() noexcept;

}  // namespace nopal::core
