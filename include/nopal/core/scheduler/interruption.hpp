#pragma once

// A strand that only forks is saved while something due runs: at its next poll, which the timer's thread has asked for. due.md, "What is
// due". Called by worker::poll, and by loops and scopes that look without a fork. Next: ../stack/suspension.hpp, which leaves the stack;
// search.hpp, which runs what is due first, and then this strand.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Saves the calling strand if something is due that this worker may run, until that has ended or waits again. By a worker, at a poll;
/// another worker may run the caller afterwards. Two loads if nothing is due.
NOPAL_API NOPAL_COLD void let_due_run() noexcept;

}  // namespace nopal::core
