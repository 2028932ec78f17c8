#pragma once

// What is due: stacks whose time limit has expired, or whose event has come. A worker that only forks and joins never searches, so the
// timer's thread raises the flag that thieves raise. due.md, "What is due". Next: pool_state.hpp, which holds them. Below: how such a
// worker runs them.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

class worker;

/// True if something is due that `w` may run. A hint; a worker that has not looked is asked again. Any thread.
bool is_anything_due(worker const& w) noexcept;
/// True: the caller is the pool's timer, under its mutex, or a worker that looks for events; so `r`, which worker `left_by` has left, is
/// now due. With `home` that worker's thread runs it, else the first worker that takes it. If no thread searches, all busy workers are asked
/// to look. `r` may have run, and may be gone, when this returns. entry_points::take_if_due. O(workers).
bool take_if_due(pool_state& pool, resumable& r, unsigned left_by, bool home) noexcept;
/// The timer asks the workers for what is due, soon and as long as there is any. By a worker.
void ask_for_due(pool_state& pool) noexcept;

// A strand that only forks is saved while something due runs: at its next poll, which the timer's thread has asked for. due.md, "What is
// due". Called by worker::poll, and by loops and scopes that look without a fork. Next: ../stack/suspension.hpp, which leaves the stack;
// search.hpp, which runs what is due first, and then this strand.

/// Saves the calling strand if something is due that this worker may run, until that has ended or waits again. By a worker, at a poll;
/// another worker may run the caller afterwards. Two loads if nothing is due.
NOPAL_API NOPAL_COLD void let_due_run() noexcept;

}  // namespace nopal::core
