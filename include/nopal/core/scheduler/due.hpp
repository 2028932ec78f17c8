#pragma once

// What is due: stacks whose time limit has expired. A worker that only forks and joins never searches, so the timer's thread raises the flag
// that thieves raise. due.md, "What is due". Next: due_queue.hpp, where it lies; interruption.hpp, how such a worker comes to it.

#include "nopal/core/deque/resumable.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

class worker;

/// Is anything due that `w` may run? A hint; whoever has not looked is asked again. Any thread.
bool is_anything_due(worker const& w) noexcept;
/// True: the caller is the pool's timer, under its mutex, so that `r`, which worker `left_by` has left, is due. It goes to the worker that comes
/// first, or with `home` to that worker's thread, and all that are busy are asked to look, if nobody searches. Some worker may have run it
/// when this returns, and it may be gone. entry_points::take_if_due. O(workers).
bool take_if_due(pool_state& pool, resumable& r, unsigned left_by, bool home) noexcept;

}  // namespace nopal::core
