#pragma once

// The interface for code that watches a pool or holds its workers back: traces, controlled schedules, simulated machines, and what others
// add. The core calls a pool's observer off the path of a fork, after one test of one pointer. README.md. Next: src/observe/tell.hpp,
// through which the rooms call it; src/observe/observers.cpp, several in one pool.

#include <cstdint>
#include <memory>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI {

class event_source;

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

class stack;
class worker;
struct frame;
struct pool_state;
struct waits_for;

/// What begins on a worker.
enum class strand_kind : std::uint8_t {
  ready,        ///< a fiber, or a stack that was woken; the next event may say more
  job,          ///< a job from an inbox
  callers_job,  ///< a job that an external caller runs in the worker's place
  task,         ///< a stolen task
  moved_task,   ///< a task that another worker has sent
  branch,       ///< a stolen branch of an ordinary function
  child,        ///< a child of a scope off the pool
};

/// What a thread brings to a pool.
enum class brought : std::uint8_t { job, fiber };

/// The calls of a pool. Each function does nothing, unless an observer overrides it. None may throw, fork or wait in the pool.
class NOPAL_API observer {
 public:
  static constexpr unsigned no_worker = ~0U;

  /// What changes in a pool that has this observer.
  struct effects {
    bool takes_turns = false;    ///< one worker runs at a time, and the observer decides which: then no clock decides anything in the pool
    bool has_own_clock = false;  ///< the workers' time is not the machine's: then no external caller occupies a worker
    bool counts_jobs = false;    ///< jobs from outside call job_begins and job_ends
  };

  virtual ~observer();
  observer(observer const&) = delete;
  observer& operator=(observer const&) = delete;

  virtual effects has() const noexcept { return {}; }
  /// The observer of that kind: this one, one of several, or null. A kind is the address of a static member of the class.
  virtual observer* find(void const* kind) noexcept { return kind == kind_ ? this : nullptr; }

  // ---- Threads of the pool.

  /// Worker i's thread has begun, before it does anything else; or ends.
  virtual void thread_begins(unsigned /*i*/) noexcept {}
  virtual void thread_ends(unsigned /*i*/) noexcept {}
  /// As thread_begins and thread_ends, for the thread that serves time limits. `needs_timer`: true if that thread must run from the start.
  virtual bool needs_timer() const noexcept { return false; }
  virtual void timer_begins() noexcept {}
  virtual void timer_ends() noexcept {}
  /// All threads are about to end: the observer must release those that it holds back. Then they have ended. Then others may begin. Not by
  /// workers.
  virtual void pool_ends() noexcept {}
  virtual void pool_has_ended() noexcept {}
  virtual void pool_begins_again() {}
  /// From exit, for a pool that is never destroyed, as the default pool, if it has threads, which may still run. pool_has_ended does not
  /// follow, unless shutdown is called later still. A static pool whose own job has called exit may get neither.
  virtual void process_ends() noexcept {}
  /// How often the observer could not keep its order: stats::lost_turns.
  virtual std::uint64_t lost_turns() const noexcept { return 0; }

  // ---- Work from outside the pool. Any thread.

  /// The caller is about to give a job or a fiber to the pool. `by`: the worker that does; null: a thread that works for no worker of the
  /// pool.
  virtual void comes(brought /*what*/, worker* /*by*/) noexcept {}
  /// A thread outside is about to bring work, or the timer to wake what is due. Returns once the workers are at rest, or do not reach it.
  virtual void settle() noexcept {}
  virtual bool at_rest() const noexcept { return true; }
  /// A job is about to be given to the pool; job_begins and job_ends will follow. Only if an observer of the pool counts jobs; then for all
  /// of its observers.
  virtual void job_comes() noexcept {}
  /// There is something new that workers can find.
  virtual void something_new() noexcept {}

  // ---- By worker i, which is passed as its number if nothing else of it matters.

  virtual void job_begins(unsigned /*i*/) noexcept {}
  virtual void job_ends(unsigned /*i*/) noexcept {}
  /// `code`: an address in the function that runs; `object`: a task's frame, or null.
  virtual void strand_begins(worker& /*w*/, strand_kind /*what*/, void const* /*code*/, void const* /*object*/) noexcept {}
  /// The strand leaves the worker's stack, to wait; that stack is resumed.
  virtual void strand_leaves(worker& /*w*/, waits_for const& /*why*/) noexcept {}
  virtual void strand_resumes(worker& /*w*/, stack const& /*s*/, waits_for const* /*why*/) noexcept {}
  /// The thread waits on top of its stack, and runs what it may run there; the wait has ended.
  virtual void waits_on_top(worker& /*w*/, stack const& /*s*/, waits_for const& /*why*/) noexcept {}
  virtual void waited_on_top(worker& /*w*/, stack const& /*s*/, waits_for const& /*why*/) noexcept {}
  /// A task is left at its join; the last of its children continues with it.
  virtual void task_waits(worker& /*w*/, frame const* /*task*/) noexcept {}
  virtual void task_resumes(worker& /*w*/, frame const* /*task*/) noexcept {}
  /// No strand runs on the worker. Called before each search.
  virtual void runs_none(worker& /*w*/) noexcept {}

  /// The worker has offered something. True: it must call this again at its next fork.
  virtual bool offered(unsigned /*i*/) noexcept { return false; }
  /// The worker's strand has answered a request, or has checked for one.
  virtual void polled(unsigned /*i*/) noexcept {}
  /// The worker begins to search as a thief, or has found something.
  virtual void searches(unsigned /*i*/, bool /*does*/) noexcept {}
  /// The worker is about to look at `victim`; or has taken one more fiber there, after took.
  virtual void tries(unsigned /*i*/, unsigned /*victim*/) noexcept {}
  /// It has stolen something there, as worker_stats::steals counts: a continuation, a ready fiber with up to half of the others, or all
  /// jobs of an inbox.
  virtual void took(worker& /*w*/, worker const& /*victim*/) noexcept {}
  /// The worker that worker i must try first, returned once; else no_worker. Called before each search if workers take turns.
  virtual unsigned victim(unsigned /*i*/) noexcept { return no_worker; }
  /// The worker has found nothing. Called if workers take turns.
  virtual void found_nothing(unsigned /*i*/) noexcept {}
  /// The worker is about to execute so many pauses before it looks again. True: the observer has done it.
  virtual bool pauses(unsigned /*i*/, std::uint64_t /*pauses*/) noexcept { return false; }
  /// The worker's thread is about to sleep; it has got up. `slept`: false if there was a reason not to. The next two: the same for naps.
  virtual void sleeps(worker& /*w*/) noexcept {}
  virtual void wakes(worker& /*w*/, bool /*slept*/) noexcept {}
  virtual void naps(worker& /*w*/) noexcept {}
  virtual void napped(worker& /*w*/) noexcept {}

  /// What the worker does next may also happen after steps of others. `left`: the stack that it has just left; or null.
  virtual void may_come_later(unsigned /*i*/, stack const* /*left*/) noexcept {}
  /// What the worker does next must happen after all that others do earlier.
  virtual void must_come_in_order(unsigned /*i*/) noexcept {}
  /// The worker lets others run.
  virtual void makes_way(unsigned /*i*/) noexcept {}

 protected:
  /// `kind`: of the class, for find; null: find does not return it.
  explicit observer(void const* kind = nullptr) noexcept : kind_{kind} {}

 private:
  void const* const kind_;
};

/// From now on each new pool calls `make`, and then the observer that it returns; null: none. The pool is not constructed yet: its address
/// may be kept, and nothing of it may be read before its first thread begins. `make` stays until the process ends. Pools that were made
/// earlier are not observed: it may be called while static objects are made. Any thread. Throws std::bad_alloc.
NOPAL_API void observe_new_pools(std::unique_ptr<observer> (*make)(pool_state&));

/// From now on each new pool whose machine is this one, and for which neither its options nor a companion name an event source, calls `make`
/// for one; null: none. The first that returns one is the last that is called. Otherwise as observe_new_pools.
NOPAL_API void bring_events_to_new_pools(std::shared_ptr<event_source> (*make)());

}  // namespace nopal::core
