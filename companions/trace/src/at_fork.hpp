#pragma once

// The thread that forks holds the lock of the traces meanwhile: scheduler/process.cpp.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

void hold_traces() noexcept;
void release_traces() noexcept;
/// In the child of a fork, under the lock: spans that the parent's threads have recorded are the parent's.
void forget_spans_outside() noexcept;

}  // namespace nopal::core
