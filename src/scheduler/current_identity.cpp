#include "nopal/core/scheduler/current_identity.hpp"

#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

void const* current_identity() noexcept {
  fork_state const* const here = state_here();
  if (here->works()) return here;
  // A thread that works for no pool keeps its native stack, so this address stays its own.
  thread_local char thread;
  asm volatile("" ::: "memory");  // so that no caller merges two calls into one
  return &thread;
}

}  // namespace nopal::core
