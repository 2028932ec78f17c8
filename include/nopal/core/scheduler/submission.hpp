#pragma once

// Work whose submitter does not wait for it on the spot: submitted roots, and fibers that are spawned from outside the pool. Its end, too:
// a pool waits for all of it. README.md, "The end of a pool". Next: injection.hpp, which brings the work to a worker.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

/// Gives the root to the pool: to the calling worker's inbox, if that belongs to the pool, else to that of a sleeping worker. Any thread.
/// The root may have ended when this returns.
NOPAL_API void submit(pool_state& pool, root& r) noexcept;
/// Gives a fiber to the pool, by a thread that does not work for it. The fiber may have ended when this returns.
NOPAL_API void spawn_from_outside(pool_state& pool, resumable& fiber) noexcept;
/// Adds a fiber to the ring of `w`, the calling worker, or to its inbox where there is no memory for the ring to grow.
void spawn_again(worker& w, resumable& fiber) noexcept;
/// Waits until everything that was submitted and spawned has ended, also what is submitted and spawned meanwhile. By a thread outside the
/// pool; on a worker of another pool it suspends the stack.
void wait_for_all(pool_state& pool) noexcept;

}  // namespace nopal::core
