#pragma once

// Memory that nothing uses goes back to the system about a second after the pool was busy. A worker that goes to sleep with much of it asks
// the pool's timer to look again later; and the timer, where the worker has slept on, wakes it for a moment to give it back: so nothing of a
// worker is touched by anybody but its owner. What lies in the pool's lists goes back by the timer itself. Called by search.hpp, which
// sleeps, and external_caller.hpp, which leaves a worker. Next: spare_memory.hpp, what worker and timer tell each other; ../wait/timer.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The worker's thread is about to sleep, at the base of `mine`: all its free stacks but some go to the pool; and all else that nothing uses
/// goes back to the system, if it has slept for long and was woken for that.
void spare_before_sleep(worker& w, stack& mine) noexcept;
/// An external caller is about to leave the worker, whose thread sleeps on: looks what there is to give back, later. A few loads where that
/// is little.
void note_spare_memory(worker& w) noexcept;
/// The pool's list holds more segments than it should keep: the timer is to look at it, also where no worker ever sleeps. A load where that is
/// known. `pool`: the pool_state. Any worker.
void note_free_segments(void* pool) noexcept;

}  // namespace nopal::core
