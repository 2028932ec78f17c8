#pragma once

// External callers: threads that work for no pool and give it a job to wait for. The caller occupies a worker whose thread sleeps, and runs the
// job itself: no thread has to wake up for a small one. README.md, "External callers". Next: search.hpp, how it helps; root.hpp, its job.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::core {

/// Runs a root to its end: `done` is what its finish sets. A thread outside the pool occupies a sleeping worker, if there is one, else it
/// blocks; on a worker of this pool the root runs on top of the caller's strand, and then the stack is left until it has ended. Throws
/// std::bad_alloc, before anything has happened. Never inlined, not even when linking: it takes thread-locals' addresses, which a compiler
/// may keep across a change of threads in the caller.
NOPAL_API [[gnu::noinline]] void run_and_wait(pool_state& pool, root& r, event& done);

/// Runs a root to its end likewise, on a thread that works for no pool, if it can occupy a sleeping worker. False: nothing has happened.
[[gnu::noinline]] bool run_if_one_sleeps(pool_state& pool, root& r, event& done) noexcept;

/// The pool ends: no thread may take it for the one whose worker it had last.
void forget_last_worker() noexcept;

}  // namespace nopal::core
