#pragma once

// Where a profile finds what it measures. Next: measured.hpp.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

class measured_strand;
struct procedure_start;

/// Two words of each native stack, which stay with it on any thread; and of each thread that works for no pool. Only the thread that runs
/// the stack accesses them.
struct measured_words {
  measured_strand* running;         ///< what is measured now, or null
  procedure_start const* starting;  ///< of the task whose function is about to be called
};

}  // namespace nopal::core
