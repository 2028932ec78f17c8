#include "nopal/core/scheduler/search.hpp"

#include <ctime>
#include <new>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/strand_loop.hpp"
#include "nopal/core/wait/event.hpp"
#include "report/stuck.hpp"

namespace nopal::core {

namespace {

// The worker has found something, and is no thief any more. If it was the last thief of its node and there is visible work, another is
// woken.
void stop_searching(worker& w) noexcept {
  search_state& s = w.search;
  if (std::exchange(s.searching, false)) w.pool().parking.stop_searching(w.index());
  if (s.idle_since == 0) return;
  s.idle_since = 0;
  s.backoff = tuning::shortest_backoff;
}

// Runs what was taken from a ring: a resumable that has its mode.
void run(worker& w, continuation c) noexcept {
  resumable& r = *c.as_resumable();
  r.run(r, w);
}

// Runs what was taken from a deque, where it was offered in `mode`.
void run_stolen(worker& w, continuation c, control_words mode) noexcept {
  if (c.is_frame()) return run_stolen_task(w, *c.as_frame(), mode);
  c.as_resumable()->mode = mode;
  run(w, c);
}

// Runs the oldest of what only this worker's thread may run. Only one, since it may suspend this stack: the others go back to the inbox,
// where other threads may push meanwhile.
bool run_own(worker& w) noexcept {
  resumable* const first = w.own.take_all();
  if (first == nullptr) return false;
  for (resumable* rest = first->next; rest != nullptr;) {
    resumable* const next = rest->next;
    w.own.push(rest);
    rest = next;
  }
  stop_searching(w);
  first->run(*first, w);
  return true;
}

// Runs the newest of what is ready, since that is in the cache. One in tuning::fairness times it runs the oldest, and every other of these
// times nothing if the inboxes have something: so two fibers that wake each other keep nothing else from starting. Thieves may be at the
// ring.
bool run_ready(worker& w) noexcept {
  unsigned const n = ++w.search.ready_taken;
  if (n % tuning::fairness == 0) [[unlikely]] {
    if (n / tuning::fairness % 2 != 0 && (!w.open.empty() || !w.own.empty())) return false;
    w.ready.publish_all();
    if (deque::entry const e = w.ready.steal(); e != 0) {
      stop_searching(w);
      run(w, continuation{e});
      return true;
    }
  }
  if (!w.ready.empty()) {
    continuation const c{w.ready.newest()};
    if (w.ready.pop() || w.ready.pop_slow()) {
      stop_searching(w);
      run(w, c);
      return true;
    }
  }
  w.retract_ready();
  return false;
}

// Empties an inbox, this worker's or another's. Other threads may push or take at the same time, but each resumable is taken by one. The
// oldest is run here. The others go to this worker's ring, the newest first, so that this worker comes to the next oldest next, and thieves
// to the newest.
bool take_jobs(worker& w, inbox& from) noexcept {
  resumable* const first = from.take_all();
  if (first == nullptr) return false;
  bool const steals = w.pool().steals;
  resumable* newest = nullptr;
  for (resumable* r = first->next; r != nullptr;) {
    resumable* const next = std::exchange(r->next, newest);
    newest = std::exchange(r, next);
  }
  try {
    while (newest != nullptr) {
      w.make_room_for_ready();
      resumable& r = *std::exchange(newest, newest->next);  // its link is read before it is offered
      w.make_ready(r);
      if (steals) w.pool().parking.retract();  // the job was visible work by itself; in the ring it counts as a part of that
    }
  } catch (std::bad_alloc const&) {
    while (newest != nullptr) w.open.push(std::exchange(newest, newest->next));
  }
  if (&from != &w.open) w.count.add(counted::steals);
  stop_searching(w);
  if (steals) w.pool().parking.retract();
  first->run(*first, w);
  return true;
}

// Tries one other worker once: its deque, its ring, its open inbox. The owner and other thieves may be at all of these at the same time:
// which of them gets what, deque/README.md says. `only`: see find_and_run.
bool steal_from(worker& w, worker& victim, root const* only) noexcept {
  w.count.add(counted::steal_attempts);
  root* const its = victim.busy_with.load(std::memory_order_relaxed);  // relaxed: a hint
  if (only != nullptr && its != only) return false;
  if (!victim.work.looks_empty()) {
    control_words mode;
    if (deque::entry const e = victim.work.steal(&mode); e != 0) {
      w.count.add(counted::steals);
      w.busy_with.store(its, std::memory_order_relaxed);  // relaxed: a hint
      stop_searching(w);
      w.step();
      run_stolen(w, continuation{e}, mode);
      return true;
    }
  }
  if (only != nullptr) return false;
  if (!victim.ready.looks_empty()) {
    if (deque::entry const e = victim.ready.steal(); e != 0) {
      w.count.add(counted::steals);
      w.step();
      stop_searching(w);
      run(w, continuation{e});
      return true;
    }
  }
  return take_jobs(w, victim.open);
}

// Searches the inboxes and other workers once, and runs what it finds. False: there was nothing. `only`: null; or the root of an external
// caller, which takes nothing but strands of that root. O(workers).
bool find_and_run(worker& w, root const* only) noexcept {
  if (!w.occupant.here && run_own(w)) return true;  // an external caller leaves these to the worker's thread
  pool_state& pool = w.pool();
  if (only == nullptr) {
    if (take_jobs(w, w.open)) return true;
    if (!pool.parking.visible_work()) return false;
  }
  if (!pool.steals || w.search.victims.empty()) return false;
  // As many tries as there are other workers, before the caller considers to sleep. Each victim is drawn anew, by Eq. (6).
  for (unsigned k = 1; k < pool.size(); ++k) {
    if (steal_from(w, *pool.workers[w.search.victims.pick(w.search.random())], only)) return true;
  }
  return false;
}

// The worker's thread has found nothing for long, and counts as a thief. It sleeps, unless it must stay awake as the last thief of its
// node, or something waits for it. While it sleeps an external caller may occupy the worker. True: it slept, and all fields of the worker
// that are not reset here are as an external caller may have left them.
bool sleep(worker& w, stack& mine) noexcept {
  pool_state& pool = w.pool();
  unsigned const i = w.index();
  w.search.searching = false;  // parking counts this thread; an external caller in its place is no thief
  w.stacks.trim(tuning::stacks_kept_asleep);
  watch_for_stuck_pool(pool);
  bool const slept = pool.parking.park(
      i, [&] { return must_stay(pool, i); }, [&] { w.count.add(counted::sleeps); });
  w.search.searching = true;
  if (!slept) return false;
  w.count.add(counted::wakeups);
  w.home = w.thread_home;
  w.here = &mine;
  w.search.idle_since = 0;
  return true;
}

// Pauses before the next search: longer each time, and for a random part, so that thieves do not come all at once. Ends early when visible
// work appears or disappears.
void back_off(worker& w, bool work_was_visible) noexcept {
  search_state& s = w.search;
  auto const pause = s.backoff + s.random() % s.backoff;
  for (std::uint64_t k = 0; k < pause && w.pool().parking.visible_work() == work_was_visible; ++k) cpu_relax();
  if (s.backoff < tuning::longest_backoff) s.backoff *= 2;
}

// Searches once, under a controlled schedule: first the worker at whose fork this one got the turn.
void search_as_scheduled(worker& w) noexcept {
  pool_state& pool = w.pool();
  unsigned const victim = pool.control->victim(w.index());
  if (victim != controlled_schedule::no_worker && pool.steals && steal_from(w, *pool.workers[victim], nullptr)) return;
  if (!find_and_run(w, nullptr)) pool.control->idle(w.index());
}

// Searches once, by the worker's own thread, and pauses or sleeps if it finds nothing. False: the pool ends.
bool search_once(worker& w, stack& mine) noexcept {
  pool_state& pool = w.pool();
  if (pool.stopping.load(std::memory_order_relaxed)) return false;  // relaxed: a hint; must_stay reads it again before a sleep
  if (pool.control != nullptr) [[unlikely]] {
    search_as_scheduled(w);
    return true;
  }
  pool.mode.adopt();  // what the strand before has left would be a trap for us; whatever runs next adopts its own
  search_state& s = w.search;
  if (!std::exchange(s.searching, true)) pool.parking.start_searching(w.index());
  if (find_and_run(w, nullptr)) return true;  // another worker may run this stack now, and w must not be used

  std::int64_t const now = std_sync::now();
  if (s.idle_since == 0) s.idle_since = now;
  std::int64_t const idle_for = now - s.idle_since;
  if (pool.idle == idle::lazy && idle_for > tuning::search_before_sleep && !sleep(w, mine) && idle_for > tuning::search_before_naps) {
    // This is the one thief of its node that must stay awake, while others are busy with strands that offer nothing for long.
    timespec const nap{0, tuning::nap};
    ::nanosleep(&nap, nullptr);
  }
  bool const visible = pool.parking.visible_work();
  back_off(w, visible);
  if (idle_for > tuning::search_before_yield && (visible || pool.idle == idle::busy)) std_sync::yield();
  return true;
}

// Searches once, by an external caller, for strands of its own root. False: the root has ended, or there has been nothing to help with for
// long, or the worker's thread is needed.
bool search_as_external_caller(worker& w) noexcept {
  event const& done = *w.occupant.done;
  if (done.is_set() || must_stay(w.pool(), w.index())) return false;
  if (find_and_run(w, w.occupant.job)) return true;
  search_state& s = w.search;
  std::int64_t const now = std_sync::now();
  if (s.idle_since == 0) s.idle_since = now;
  std::int64_t const idle_for = now - s.idle_since;
  if (idle_for >= tuning::search_before_sleep) return false;
  for (int k = 0; k < tuning::pauses_of_external_caller && !done.is_set(); ++k) cpu_relax();
  if (idle_for > tuning::search_before_yield) std_sync::yield();
  return true;
}

}  // namespace

bool must_stay(pool_state const& pool, unsigned i) noexcept {
  worker const& w = *pool.workers[i];
  return pool.stopping.load(std::memory_order_seq_cst) || !w.own.empty() || !w.open.empty() || !w.ready.empty();
}

void search_on(stack& mine) noexcept {
  for (;;) {
    worker& w = *current();
    if (w.occupant.here ? !search_as_external_caller(w) : !run_ready(w) && !search_once(w, mine)) return;
  }
}

void search_for_work(context& c) noexcept {
  auto& mine = static_cast<stack&>(c);
  search_on(mine);
  leave_for_thread(mine);
}

}  // namespace nopal::core
