#include "nopal/core/scheduler/submission.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/scheduler/priorities.hpp"
#include "nopal/core/task/resume_loop.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/job_wait.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/yield.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core
