#pragma once

// How something to run reaches a worker from elsewhere: into its inbox, and somebody is woken who will find it there. Next:
// sleep/inbox.hpp, sleep/parking.hpp; search.hpp, where it is found.

#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/deque/resumable.hpp"
#include "nopal/core/task/move_request.hpp"

namespace nopal::core {

/// Puts `r` into worker i's inbox. It may have been run, and be gone, when this returns; the caller keeps the pool alive. Any thread.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept;

/// A worker for something that comes from elsewhere: one that sleeps, if there is one. Each search begins at another place.
unsigned choose_worker(pool_state& pool) noexcept;

/// Sends a task to the one worker it is to run on, of whatever pool.
void send(move_request& m) noexcept;

}  // namespace nopal::core
