#pragma once

// Work whose submitter does not wait for it on the spot: submitted jobs, and fibers that are spawned from outside the pool. Also its end: a
// pool waits for all of it. README.md, "The end of a pool". Next: injection.hpp, which gives the work to a worker.

#include <string>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/job.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Gives the job to the pool: to the calling worker's inbox, if that worker belongs to the pool, else to a sleeping worker's. Any thread.
/// The job may have ended when this returns. Its finish drops the stop region, which is held for it from here on.
NOPAL_API void submit(pool_state& pool, job& r) noexcept;
/// The two halves of submit, for a job that begins later. First: the job is the calling thread's. Its region is held for it from here on,
/// and with `pool` it counts as submitted there, so that the pool's end waits for it. Without, a worker must do the second half, whose pool
/// it is.
NOPAL_API void prepare_to_submit(pool_state* pool, job& r) noexcept;
/// Names the pool, where the first half has not.
NOPAL_API void prepare_to_submit_to(pool_state& pool, job& r) noexcept;
/// Second: gives the job to the pool that the first half has named, or to the calling worker's: to the ring of the calling worker, if it
/// works for that pool. The caller keeps the pool alive. The job may have ended when this returns.
NOPAL_API void submit_prepared(job& r) noexcept;
/// The default pool's. Throws what default_pool() throws. In src/pool.cpp.
NOPAL_API NOPAL_COLD pool_state& default_pool_state();
/// Gives a fiber to the pool, by a thread that does not work for it. The fiber may have ended when this returns.
NOPAL_API void spawn_from_outside(pool_state& pool, resumable& fiber) noexcept;
/// Adds a fiber to the ring of `w`, the calling worker, or to its inbox if there is no memory for the ring to grow.
void spawn_again(worker& w, resumable& fiber) noexcept;
/// Waits until everything that was submitted and spawned has ended, also what is submitted and spawned during the wait, and in the default
/// pool each call of run. False: `deadline` has passed first. By a thread outside the pool; on a worker of another pool it suspends the
/// stack, and has no deadline.
bool wait_for_all(pool_state& pool, time_point deadline = time_point::max()) noexcept;
/// Says in words what wait_for_all would wait for. By a thread outside the pool. Throws std::bad_alloc.
std::string what_is_left(pool_state& pool);

/// A thread outside is about to inject `r`: tells the pool's observer.
void comes_from_outside(pool_state& pool, job& r) noexcept;

}  // namespace nopal::core
