#pragma once

// Memory that nothing uses goes back to the system about a second after the pool was busy. A worker that goes to sleep with much of it asks
// the pool's timer to look again later. If the worker still sleeps then, the timer wakes it for a moment to give the memory back, since
// only its owner touches what a worker has. The timer gives back what the pool's lists hold. Called by search.hpp, which sleeps, and
// external_caller.hpp, which leaves a worker. Next: spare_memory.hpp, how worker and timer agree; ../wait/timer.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The worker's thread is about to sleep, at the base of `mine`. Gives all its free stacks but some to the pool. If it has slept for long
/// and was woken for that, gives all else that nothing uses back to the system.
void spare_before_sleep(worker& w, stack& mine) noexcept;
/// An external caller is about to leave the worker, whose thread still sleeps: notes what there is to give back later. A few loads if that
/// is little.
void note_spare_memory(worker& w) noexcept;
/// The pool's list holds more segments than it should keep: asks the timer to look at it, also if no worker ever sleeps. One load if the
/// timer was asked already. `pool`: the pool_state. Any worker.
void note_free_segments(void* pool) noexcept;

}  // namespace nopal::core
