#pragma once

// Work that nobody waits for on the spot: submitted roots, and fibers that do not start in the caller's own ring. And its end, which a pool
// waits for. README.md, "The end of a pool". Next: injection.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

/// Lets a worker run the root some time: the caller's, if it works for that pool.
NOPAL_API void submit(pool_state& pool, root& r) noexcept;
/// Starts a fiber, by a thread that does not work for that pool.
NOPAL_API void spawn_from_outside(pool_state& pool, resumable& fiber) noexcept;
/// Starts a fiber, by the worker that calls, whatever memory there is.
void spawn_again(worker& w, resumable& fiber) noexcept;
/// Waits until everything submitted and spawned has ended. By a thread outside the pool.
void wait_for_all(pool_state& pool) noexcept;

}  // namespace nopal::core
