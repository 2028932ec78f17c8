#pragma once

// Where the hooks of a profile find what they measure: two words of each native stack, which stay with it whatever thread runs
// it; and of each thread that works for no pool. Whoever runs there touches them, and no other. Next: procedure.hpp.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

struct procedure;
struct procedure_start;

struct procedure_words {
  procedure* running;               ///< what is measured now; null: nothing is
  procedure_start const* starting;  ///< of the task whose function is about to be called
};

}  // namespace nopal::core
