#pragma once

// Giving away what a strand has offered, when its worker leaves the native stack or the task moves to another worker: core/README.md,
// invariant 7. Called by suspension.cpp and task/resume_loop.cpp. Next: suspension.hpp, which then leaves the stack.

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/orphan_memory.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Empties the deque of `w`, by its owner, and rewinds it. Puts each entry into the worker's inbox, where any worker finds it, as if it had
/// been stolen: a branch or a stack as it is, a task in an orphaned_continuation from `memory`. That must hold enough (orphan_memory::get),
/// and is empty afterwards. O(entries).
void give_everything_away(worker& w, orphan_memory& memory) noexcept;

/// Empties the deque of `w`, by its owner, which will soon continue: as above, but into the worker's ring, the newest on top. False: there
/// is not enough memory, and nothing has happened. Throws std::bad_alloc, and nothing has happened then either. O(entries).
bool move_to_ring(worker& w);

}  // namespace nopal::core
