#pragma once

// External callers: threads that work for no pool, give it a job and wait for it. The caller occupies a worker whose thread sleeps and runs
// the job itself, so that no thread has to wake up for a small one. README.md, "External callers". Next: search.hpp, where the caller helps
// with what its job has forked.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/job.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Runs a job to its end. Its finish sets `done`. Any thread may call. A thread that works for no pool occupies a sleeping worker if there
/// is one; otherwise it sleeps until another worker has run the job. On a worker of this pool the job runs on top of the caller's strand,
/// and then the stack is suspended until the job has ended. A worker of another pool, or one whose native stack is low, puts the job into
/// an inbox and suspends its stack. Throws std::bad_alloc, and nothing has happened then. Never inlined, not even when linking: it takes
/// addresses of thread-locals, which a compiler may keep in the caller across a change of threads.
NOPAL_API [[gnu::noinline]] void run_and_wait(pool_state& pool, job& r, event& done);

/// As run_and_wait, on a thread that works for no pool, but only if it can occupy a sleeping worker. False: nothing has happened.
[[gnu::noinline]] bool run_if_one_sleeps(pool_state& pool, job& r, event& done) noexcept;

/// The calling thread forgets which worker it occupied last, as that worker's pool ends.
void forget_last_worker() noexcept;

}  // namespace nopal::core
