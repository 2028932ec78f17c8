#include "nopal/core/scheduler/external_caller.hpp"

#include <sched.h>

#include <algorithm>

#include "nopal/core/base/leak_roots.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/priorities.hpp"
#include "nopal/core/scheduler/saved_strand.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/resume_loop.hpp"
#include "nopal/core/wait/job_wait.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The worker that the calling thread has occupied last. Only threads that work for no pool use this, on their own stacks, which no other
// thread ever resumes: so a compiler may keep its address.
constinit thread_local struct {
  pool_state const* pool;
  unsigned index;
  unsigned uses;
  int cpu;  ///< on which the thread ran then
} last{};

// Occupies a worker whose thread fell asleep on the CPU on which the caller runs, or any that sleeps, of the caller's NUMA node if one does.
// The system wakes a thread where it fell asleep, as a rule: so those that are left wake up beside the caller, and not behind it. If none
// fell asleep here, and this CPU has a worker, that is awake: then in a pool that is pinned the caller moves to the CPU of the one that it
// occupies, if that is of the same node. Returns its index; size() if no worker sleeps. Workers' threads may wake up, and other callers
// occupy them, at the same time: parking decides.
NOPAL_COLD unsigned occupy_another(pool_state& pool) noexcept {
  take_alternate_stack();
  unsigned const n = pool.size();
  int const here = ::sched_getcpu();
  for (unsigned k = 0; k < n; ++k) {
    if (pool.workers[k]->sleeps_on.load(std::memory_order_relaxed) == here && pool.parking.occupy(k)) return k;  // relaxed: a hint
  }
  auto const own = std::ranges::find(pool.places, here, &place::cpu);
  unsigned const first = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % n;  // relaxed: any value will do
  for (bool const near : {true, false}) {
    for (unsigned k = 0; k < n; ++k) {
      unsigned const i = (first + k) % n;
      if ((own != pool.places.end() && pool.places[i].node == own->node) != near || !pool.parking.occupy(i)) continue;
      if (near && pool.pinned) move_to_cpu(pool.places[i].cpu);
      return i;
    }
  }
  return n;
}

// Occupies a sleeping worker for the calling thread, most often the one that it had last time, unless the system has moved the thread since.
// Returns its index; size() if no worker sleeps.
unsigned occupy(pool_state& pool) noexcept {
  if (last.pool == &pool && last.index < pool.size() && last.cpu == ::sched_getcpu() && ++last.uses % tuning::tries_another_worker != 0 &&
      pool.parking.occupy(last.index)) [[likely]] {
    return last.index;
  }
  last.pool = &pool;
  last.index = occupy_another(pool);
  last.cpu = ::sched_getcpu();
  return last.index;
}

// The body of the stack that an external caller runs on: its job first, then the search for strands of that job. If the stack was never
// suspended, it returns to the caller's own stack. Otherwise it leaves for the stack on which the thread that works here now began.
void run_job_of_caller(context& c) noexcept {
  auto& mine = static_cast<stack&>(c);
  tell::strand_begins(*current(), strand_kind::callers_job, current()->occupant.own_job->start);
  run_job(*current(), *current()->occupant.own_job);
  if (worker const& w = *current(); !w.occupant.here || !w.occupant.done->is_set()) search_on(mine);
  if (mine.returns()) return;
  leave_for_thread(mine);
}

bool has_worker_here(pool_state const& pool) noexcept {
  return std::ranges::find(pool.places, ::sched_getcpu(), &place::cpu) != pool.places.end();
}

// Runs the job in the place of a sleeping worker's thread, and waits until the job has ended. While the caller occupies the worker, the
// worker's thread still sleeps: it finds what is put into its inboxes later, if no other worker does. False: no worker sleeps, there is no
// memory for a native stack, or stacks stay in this pool; nothing has happened.
bool run_as_worker(pool_state& pool, job& r, event& done) noexcept {
  if (pool.resume == resume::home) return false;  // a stack of the job would have to stay with the caller's thread, which leaves
  if (pool.has_own_clock) [[unlikely]]
    return false;                                            // the caller's time is no worker's
  if (pool.limit != nullptr) return false;                   // the caller has no permit
  if (pool.on_part && !has_worker_here(pool)) return false;  // the job would run outside of the pool's place
  unsigned const i = occupy(pool);
  if (i == pool.size()) return false;
  worker& w = *pool.workers[i];
  stack* const s = w.stacks.get();
  if (s != nullptr) {
    context own;
    fork_state* const outside = state_here();
    work_for(&w);
    w.occupant = {true, &r, &done};
    w.search.idle_since = 0;
    w.spare.works_again();
    w.began_on = &own;
    w.began_on_frame = frames_here();
    w.here = s;
    if (s->run_from(own, run_job_of_caller)) w.stacks.put(s);
    // If thieves have taken all that was spawned, the ring is no visible work. If not, the worker's thread wakes for the rest: see
    // must_stay_awake.
    if (w.ready_is_offered && w.ready.empty()) [[unlikely]]
      w.retract_ready();
    tell::runs_none(w);
    w.occupant.here = false;
    note_spare_memory(w);
    work_for(outside);
  }
  pool.parking.vacate(i, [&] { return must_stay_awake(pool, i); });
  if (s == nullptr) return false;
  sleep_until_set(done, {"a job", nullptr});
  return true;
}

// Gives the job to some worker, and waits until it has ended.
void run_elsewhere(pool_state& pool, job& r, event& done) noexcept {
  r.run = run_injected_job;
  tell::comes(pool, brought::job);
  unsigned const i = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % pool.size();  // relaxed: any value will do
  give(pool, r, r.runs_in.region, i);
  wait_for_job(done, &r);
}

// The caller is a worker, of this pool or another.
void run_on_worker(worker& w, pool_state& pool, job& r, event& done) {
  if (&w.pool() == &pool && w.fits_here()) {
    w.make_room_for_strand();
    {
      saved_strand const outer{w};  // the caller's strand waits below, on the same stack
      run_job(w, r);
    }
    return wait_for_job(done, &r);
  }
  if (&w.pool() != &pool) comes_from_outside(pool, r);
  run_elsewhere(pool, r, done);
}

// A call by a thread that does not work for this pool. While this object lives, shutdown does not end the threads of the default pool.
class call_from_outside {
 public:
  explicit call_from_outside(pool_state& pool) noexcept : counted_by_{pool.is_default ? &pool : nullptr} {
    if (counted_by_ != nullptr) counted_by_->calls_begun.fetch_add(1, std::memory_order_seq_cst);  // before the next line: see end_threads
    pool.needs_threads();
  }
  call_from_outside(call_from_outside const&) = delete;
  call_from_outside& operator=(call_from_outside const&) = delete;
  ~call_from_outside() {
    if (counted_by_ != nullptr) counted_by_->calls_ended.fetch_add(1, std::memory_order_release);  // release: pairs with wait_for_all
    if (current_or_null() == nullptr) thread_lent_its_values();
  }

 private:
  pool_state* const counted_by_;  // only the default pool still exists afterwards, whatever other threads do
};

}  // namespace

void run_and_wait(pool_state& pool, job& r, event& done) {
  worker* const w = current_or_null();
  if (w != nullptr && &w->pool() == &pool) return run_on_worker(*w, pool, r, done);
  call_from_outside const call{pool};
  if (w != nullptr) return run_on_worker(*w, pool, r, done);
  done.only_this_thread_waits();
  if (run_as_worker(pool, r, done)) return;
  comes_from_outside(pool, r);
  run_elsewhere(pool, r, done);
}

bool run_if_one_sleeps(pool_state& pool, job& r, event& done) noexcept {
  call_from_outside const call{pool};
  done.only_this_thread_waits();
  return run_as_worker(pool, r, done);
}

// The thread's alternate signal stack ends with the pool. The next pool, maybe at the same address, must make another, in occupy_another.
void forget_last_worker() noexcept { last = {}; }

}  // namespace nopal::core
