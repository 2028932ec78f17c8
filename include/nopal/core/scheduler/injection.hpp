#pragma once

// How a worker gets something to run from elsewhere: it is put into the worker's inbox, and a thread that will find it there is woken. Any
// thread may call. README.md, "Injection". Next: sleep/inbox.hpp, sleep/parking.hpp; search.hpp, where it is found.

#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct move_request;

/// Puts `r` into worker i's open inbox. `r` may have run, and may be gone, when this returns; the caller keeps the pool alive.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept;

/// Index of a worker for something that comes from elsewhere: a sleeping worker, if there is one. Each search begins at another worker.
/// O(workers).
unsigned choose_worker(pool_state& pool) noexcept;

/// Sends a task to the one worker that is to run it, of any pool. The task may have ended when this returns.
void send(move_request& m) noexcept;

}  // namespace nopal::core
