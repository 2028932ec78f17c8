#pragma once

// What was given to a pool, from its submission to its result. Next: typed_job.hpp adds the callable and the result; what is below gives it
// to a worker; task/slow_path.hpp runs it.

#include <exception>
#include <string>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// Aligned so that a task can keep parent_bits beside its address, as beside a parent's. One thread at a time uses it: the submitter, then
/// the worker that runs it, then its waiter.
struct alignas(16) job : inheriting {
  /// By the submitter: the job runs in its context.
  job() noexcept { inherit({job_context::now(region_to_hand_over()), values_here()}); }

  /// Starts the callable on the calling worker, as a forked or called child starts. What it throws is put into worker::strand.
  void (*start)(job&) = nullptr;
  /// Called once, last, when the result or the error is in place. The job may be gone when it returns.
  void (*finish)(job&) noexcept = nullptr;
  pool_state* pool = nullptr;
  bool is_counted = false;   ///< it came from outside, and the pool's observer counts it
  std::exception_ptr error;  ///< what the callable threw, or null
};

// Work whose submitter does not wait for it on the spot: submitted jobs, and fibers that are spawned from outside the pool. Also its end: a
// pool waits for all of it. README.md, "The end of a pool". Next: inject, below, which gives the work to a worker.

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

// How a worker gets something to run from elsewhere: it is put into the worker's inbox, and a thread that will find it there is woken. Any
// thread may call. README.md, "Injection". Next: sleep/inbox.hpp, sleep/parking.hpp; search.hpp, where it is found.

struct move_request;

/// Puts `r` into worker i's open inbox. `r` may have run, and may be gone, when this returns; the caller keeps the pool alive.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept;

/// Index of a worker for something that comes from elsewhere: a sleeping worker, if there is one. Each search begins at another worker.
/// O(workers).
unsigned choose_worker(pool_state& pool) noexcept;

/// Sends a task to the one worker that is to run it, of any pool. The task may have ended when this returns.
void send(move_request& m) noexcept;

// Work of high and low priority. It goes into queues of its own, not into rings and inboxes, so that workers find it before or after all
// other work. A priority is that of the stop region in which the work runs, so work outside of all regions is normal and pays nothing.
// due.md, "High and low". Next: due.hpp, how a worker that only forks makes way; ../../priority.hpp, what users say.

/// Gives `r`, which runs in the region `in`, to the pool's queue of high or low work; where nothing is stolen to worker i's. False: it is
/// normal, and nothing has happened. `r` may have run, and may be gone, when this returns true; the caller keeps the pool alive.
NOPAL_API NOPAL_COLD bool give_by_priority(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept;
/// As above, out of line only where the region is one.
inline bool given_by_priority(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept {
  return in != no_region && give_by_priority(pool, r, in, i);
}
/// Gives `r` as its priority says: as above, or if it is normal into worker i's open inbox.
void give(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept;
/// As above, for work that is high: a stack that was woken, where it was left in a region of high priority. entry_points::give_high.
void give_high(pool_state& pool, resumable& r, unsigned i) noexcept;

// External callers: threads that work for no pool, give it a job and wait for it. The caller occupies a worker whose thread sleeps and runs
// the job itself, so that no thread has to wake up for a small one. README.md, "External callers". Next: search.hpp, where the caller helps
// with what its job has forked.

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
