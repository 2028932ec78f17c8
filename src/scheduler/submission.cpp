#include "nopal/core/scheduler/submission.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Into an inbox.

// Other threads may push to the same inbox, and workers empty it, at the same time. The visible work is counted before the push, so that
// the count is never too low and no thief sleeps over the job. In a pool that does not steal only worker i may run it: then it is no
// visible work, and worker i is woken.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept {
  if (pool.steals) pool.parking.add();
  pool.workers[i]->open.push(&r);
  if (pool.steals) {
    pool.parking.announce(i);
  } else {
    pool.parking.notify(i);
  }
  pool.naps.end();
  tell::something_new(pool);
}

unsigned choose_worker(pool_state& pool) noexcept {
  unsigned const first = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % pool.size();  // relaxed: any value will do
  for (unsigned k = 0; k < pool.size(); ++k) {
    if (unsigned const i = (first + k) % pool.size(); pool.parking.is_asleep(i)) return i;
  }
  return first;
}

// The task may end as soon as it is pushed, and nothing else may keep the other pool alive. So if this thread does not work for that pool,
// the pool has something pending until this function no longer uses it. If it does, the pool's end joins this thread, or must not begin,
// since the thread is in pool::run.
void send(move_request& m) noexcept {
  worker& to = *m.to;
  pool_state& there = to.pool();
  worker const* const w = current_or_null();
  bool const from_outside = w == nullptr || &w->pool() != &there;
  if (from_outside) {
    m.from_elsewhere = true;
    there.pending.started();  // the task
    there.pending.started();  // this thread, until it does not touch that pool any more
    there.needs_threads();
  }
  to.own.push(&m);
  there.parking.call(to.index());
  there.naps.end();  // that worker's thread may be the one that naps
  tell::something_new(there);
  if (from_outside) there.pending.finished();
}

// ---- High and low priority.

namespace {

bool some_queue_holds(pool_state const& pool, due_queue queues::* which) noexcept {
  if (pool.steals) return !(pool.queues.*which).empty();
  for (worker const* const w : pool.workers) {
    if (!(w->queues->*which).empty()) return true;
  }
  return false;
}

// Lets the timer call `f` later, unless it will already; `will` says so. seq_cst: the caller has pushed before, and `f` looks at the queues
// after it has cleared the flag. So one of them sees the other. Without a thread for the timer nothing is called; nor where workers take
// turns, since the machine's time must not decide there.
void call_later(pool_state& pool, std::atomic<bool>& will, timer::later what, std::int64_t delay, void (*f)(void*) noexcept) noexcept {
  if (pool.takes_turns || will.exchange(true, std::memory_order_seq_cst)) return;
  if (!pool.timer.call_after(what, std::chrono::nanoseconds{delay}, f, &pool)) will.store(false, std::memory_order_seq_cst);
}

void request_all(pool_state& pool) noexcept {
  for (worker* const w : pool.workers) {
    if (!w->queues->high.looks_empty()) w->work.request();
  }
}

// By the timer's thread. A request may be lost, as one for what is due (due.cpp); and work that came since the last time has made none.
void ask_again(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  pool.asks_for_high.store(false, std::memory_order_seq_cst);  // see call_later
  if (!some_queue_holds(pool, &queues::high)) return;
  request_all(pool);
  call_later(pool, pool.asks_for_high, timer::later::high, tuning::between_requests, ask_again);
}

// High work was pushed, and no thread was woken for it: all workers are busy, or one that searches already may find something else. All are
// asked to look, once in between_requests, however much comes.
void ask(pool_state& pool) noexcept {
  if (pool.asks_for_high.load(std::memory_order_seq_cst)) return;  // the timer asks soon: see call_later
  request_all(pool);
  call_later(pool, pool.asks_for_high, timer::later::high, tuning::between_requests, ask_again);
}

// By the timer's thread: the oldest of the low work begins like high work. Where nothing is stolen, of each worker.
void promote_oldest(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  auto const promote = [](queues& q) noexcept {
    resumable* const r = q.low.take();
    if (r != nullptr) q.high.push(*r);  // it counts as visible work all the time
    return r != nullptr;
  };
  pool.watches_low.store(false, std::memory_order_seq_cst);  // see call_later
  if (!some_queue_holds(pool, &queues::low)) return;
  if (pool.steals) {
    promote(pool.queues);
  } else {
    for (worker* const w : pool.workers) {
      if (promote(*w->queues)) pool.parking.notify(w->index());  // it may have looked into one queue before, into the other behind
    }
  }
  ask(pool);
  call_later(pool, pool.watches_low, timer::later::low, tuning::low_waits, promote_oldest);
}

// As inject: the visible work is counted before the push.
void push(pool_state& pool, resumable& r, due_queue queues::* which, unsigned i) noexcept {
  if (pool.steals) pool.parking.add();
  (pool.workers[i]->queues->*which).push(r);
}
// True: a thread was woken, and looks there before all else.
bool announce(pool_state& pool, unsigned i) noexcept {
  bool const woken = pool.steals ? pool.parking.announce(i) : pool.parking.notify(i);
  if (pool.steals) pool.naps.end();
  tell::something_new(pool);
  return woken;
}

}  // namespace

void give_high(pool_state& pool, resumable& r, unsigned i) noexcept {
  push(pool, r, &queues::high, i);
  if (!announce(pool, i)) ask(pool);
}

void give(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept {
  if (!given_by_priority(pool, r, in, i)) inject(pool, r, i);
}

bool give_by_priority(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept {
  switch (priority_in(in)) {
    case priority::normal: return false;
    case priority::high: give_high(pool, r, i); break;
    case priority::low:
      push(pool, r, &queues::low, i);
      announce(pool, i);
      call_later(pool, pool.watches_low, timer::later::low, tuning::low_waits, promote_oldest);
      break;
  }
  return true;
}

// ---- Work whose submitter does not wait.

void comes_from_outside(pool_state& pool, job& r) noexcept {
  tell::settle(pool);
  r.is_counted = pool.counts_jobs;
  if (r.is_counted) [[unlikely]]
    tell::job_comes(pool);
}

namespace {

void count_as_submitted(pool_state& pool, job& r) noexcept {
  pool.pending.started();
  pool.needs_threads();  // after that: see end_threads
  r.pool = &pool;
}
void hold_its_region(job& r) noexcept {
  r.run = run_injected_job;
  r.runs_in.region = listened_to(r.runs_in.region);
  hold_region(r.runs_in.region);  // until its finish
}
void submit_from_outside(pool_state& pool, job& r) noexcept {
  comes_from_outside(pool, r);
  give(pool, r, r.runs_in.region, choose_worker(pool));
}
// The ring has the caller's own work, which runs soon; the inbox needs no memory.
void put_into_ring(worker& w, resumable& r) noexcept {
  if (given_by_priority(w.pool(), r, r.runs_in.region, w.index())) return;
  try {
    w.make_room_for_ready();
    w.make_ready(r);
  } catch (std::bad_alloc const&) {
    inject(w.pool(), r, w.index());
  }
}

}  // namespace

void submit(pool_state& pool, job& r) noexcept {
  count_as_submitted(pool, r);
  hold_its_region(r);
  tell::comes(pool, brought::job);
  worker const* const w = current_or_null();
  if (w == nullptr || &w->pool() != &pool) return submit_from_outside(pool, r);
  give(pool, r, r.runs_in.region, w->index());
}

void prepare_to_submit(pool_state* pool, job& r) noexcept {
  if (pool != nullptr) count_as_submitted(*pool, r);
  hold_its_region(r);
}

void prepare_to_submit_to(pool_state& pool, job& r) noexcept { count_as_submitted(pool, r); }

void submit_prepared(job& r) noexcept {
  worker* const w = current_or_null();
  if (r.pool == nullptr) count_as_submitted(w->pool(), r);
  pool_state& pool = *r.pool;
  tell::comes(pool, brought::job);
  if (w != nullptr && &w->pool() == &pool) return put_into_ring(*w, r);
  // The job may be the last that the pool has to run, and the pool's destructor would not wait for this thread, which still uses the pool.
  pool.pending.started();
  submit_from_outside(pool, r);
  pool.pending.finished();
}

namespace {

// A fiber from outside, which tells the observer when it begins and ends.
struct counted_fiber : resumable {
  resumable& fiber;
  explicit counted_fiber(resumable& f) noexcept : resumable{begin}, fiber{f} {}

  static void begin(resumable& r, worker& w) noexcept {
    std::unique_ptr<counted_fiber const> const me{static_cast<counted_fiber*>(&r)};
    tell::job_begins(w);
    resumable& f = me->fiber;
    f.run(f, w);
    tell::job_ends(*current());
  }
};

}  // namespace

void spawn_from_outside(pool_state& pool, resumable& fiber) noexcept {
  pool.spawned_outside.fetch_add(1, std::memory_order_seq_cst);  // before the fiber can finish: see wait_for_all
  pool.needs_threads();
  tell::comes(pool, brought::fiber);
  tell::settle(pool);
  if (pool.counts_jobs) [[unlikely]] {
    if (auto* const counted = new (std::nothrow) counted_fiber{fiber}; counted != nullptr) {
      tell::job_comes(pool);
      return give(pool, *counted, fiber.runs_in.region, choose_worker(pool));
    }
  }
  give(pool, fiber, fiber.runs_in.region, choose_worker(pool));
}

void spawn_again(worker& w, resumable& fiber) noexcept {
  w.count.add(counted::fibers_spawned);  // before the fiber can finish: see wait_for_all
  put_into_ring(w, fiber);
}

namespace {

// seq_cst, of which acquire pairs with the release of each count that a fiber has finished: a fiber that is counted here was spawned
// before, and is in the sum of the spawned fibers, which is read later. Likewise the calls of run on the default pool.
std::uint64_t finished(pool_state const& pool) noexcept {
  std::uint64_t n = pool.calls_ended.load(std::memory_order_seq_cst);
  for (worker const* w : pool.workers) n += w->count.read(counted::fibers_finished, std::memory_order_seq_cst);
  return n;
}
std::uint64_t begun(pool_state const& pool) noexcept {
  std::uint64_t n = pool.calls_begun.load(std::memory_order_seq_cst) + pool.spawned_outside.load(std::memory_order_seq_cst);
  for (worker const* w : pool.workers) n += w->count.read(counted::fibers_spawned, std::memory_order_seq_cst);
  return n;
}

// How the end of a pool waits. On a worker of another pool it suspends the stack, since what this pool still runs may wait for that very
// worker.

// Returns how much was submitted before; or `not_ended`, which is no such number, if the deadline has passed: what was pending then may end
// before none_since looks, and have spawned a fiber since the fibers were counted.
constexpr std::uint64_t not_ended = ~std::uint64_t{0};
std::uint64_t wait_until_nothing_is_pending(pending_work& pending, time_point deadline) noexcept {
  for (;;) {
    struct waiting : pending_work::waiter {
      event none;
      waiting() noexcept : pending_work::waiter{[](pending_work::waiter& w) noexcept { static_cast<waiting&>(w).none.set(); }} {}
    } me;
    event& none = me.none;
    std::uint64_t submitted = 0;
    if (pending.none_or_wake(submitted, me)) return submitted;
    if (worker* const w = current_or_null(); w != nullptr) {
      if (!none.is_set()) wait_on_worker(*w, none, {"the end of a pool", nullptr});
    } else if (deadline == time_point::max()) {
      sleep_until_set(none, {"the end of a pool", nullptr});
    } else if (!none.wait_for(std::max<std::int64_t>(0, std::chrono::nanoseconds{deadline - std::chrono::steady_clock::now()}.count()))) {
      if (pending.do_not_wake(me)) return not_ended;
      none.wait();  // until the waker no longer touches it
    }
  }
}

void wait_for_fibers_a_while() noexcept {
  constexpr std::chrono::milliseconds a_while{tuning::end_of_fibers};
  waits_for const why{"the end of a pool", nullptr};
  if (current_or_null() == nullptr) {
    sleeping_thread const listed{why};
    return std::this_thread::sleep_for(a_while);
  }
  if (sleep_through(deadline_after(a_while), why)) return;
  static_cast<void>(yield_stack());
  std_sync::yield();
}

}  // namespace

// The pool ends. Its workers still run fibers and jobs, which may spawn and submit more. Both sums only grow, and a fiber or job that runs
// is counted as begun or submitted, not as finished. So if nothing was pending, the sums were equal, and none of them had grown when it was
// read again, then nothing ran in between, and nothing can begin any more.
bool wait_for_all(pool_state& pool, time_point deadline) noexcept {
  for (;;) {
    std::uint64_t const before = begun(pool);
    std::uint64_t const submitted = wait_until_nothing_is_pending(pool.pending, deadline);
    if (finished(pool) == before && begun(pool) == before && pool.pending.none_since(submitted)) return true;
    if (deadline <= std::chrono::steady_clock::now()) return false;
    wait_for_fibers_a_while();
  }
}

std::string what_is_left(pool_state& pool) {
  std::uint64_t const ended = finished(pool);
  std::string const jobs = std::to_string(pool.pending.count());
  return jobs + " jobs that were submitted, and " + std::to_string(begun(pool) - ended) + " fibers and calls of run";
}

// ---- External callers.

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
  unsigned const first = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % n;  // relaxed: any value will do. NOLINT(*DivideZero)
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
