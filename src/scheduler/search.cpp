#include "nopal/core/scheduler/search.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/report/report.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/permits.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI {

// ---- Events from outside.

event_source::~event_source() = default;

namespace core {

static void look_by_timer(void* with) noexcept;

// Where the timer has no thread, the next who asks it tries again.
static void ask_timer_to_look(pool_state& pool, std::int64_t after) noexcept {
  if (!pool.timer.call_after(timer::later::events, std::chrono::nanoseconds{after}, look_by_timer, &pool)) pool.events.timer_rests();
}

// By the timer's thread. While a worker waits in the source, nothing else need look; that worker asks the timer again when it leaves.
static void look_by_timer(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  pool_events& events = pool.events;
  std::int64_t const looks = events.take_looks();
  if (events.somebody_waits()) {
    pool.look_again_after = tuning::between_polls;
    events.timer_rests();
    if (events.somebody_waits() || !events.asks_timer()) return;
  } else {
    bool const others_look = looks * tuning::between_polls >= pool.look_again_after;
    pool.look_again_after = others_look ? std::min(2 * pool.look_again_after, tuning::longest_between_polls) : tuning::between_polls;
    events.poll();
  }
  ask_timer_to_look(pool, pool.look_again_after);
}

void look_at_events(worker& w) noexcept {
  if (w.pool().events.enter()) look_at_entered_events(w);
}

void look_at_entered_events(worker& w) noexcept {
  search_state& s = w.search;
  pool_state& pool = w.pool();
  s.looks_for_events = true;
  pool.events.source()->poll();
  pool.events.note_look();
  s.looks_for_events = false;
  pool.events.leave();
  if (std::exchange(s.leaves_due, false)) ask_for_due(pool);
}

void look_at_events_later(pool_state& pool) noexcept {
  if (pool.events.asks_timer()) ask_timer_to_look(pool, tuning::between_polls);
}

}  // namespace core

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// ---- The search.

namespace {

// The strand before may have ended, and its region and its values with it.
void leave_context(worker& w) noexcept {
  w.region = no_region;
  w.values = nullptr;
}

// The worker has found something, and is no thief any more. While there is visible work, the last thief of a node, or one that was woken,
// wakes others.
void stop_searching(worker& w) noexcept {
  search_state& s = w.search;
  w.forget_joins();
  if (std::exchange(s.searching, false)) {
    w.pool().parking.stop_searching(w.index(), std::exchange(s.woken, false) ? tuning::woken_by_one : 0);
    tell::searches(w, false);
  }
  if (s.idle_since == 0) return;
  s.idle_since = 0;
  s.backoff = tuning::shortest_backoff;
  s.nap = tuning::shortest_nap;
}

// Runs what was taken from a ring: its context is already set.
void run(worker& w, resumable& r) noexcept {
  tell::strand_begins(w, strand_kind::ready, r.run);
  r.run(r, w);
}
void run(worker& w, continuation c) noexcept { run(w, *c.as_resumable()); }

// Runs what was taken from a deque, in the context in which it was offered.
void run_stolen(worker& w, continuation c, strand_context const& in) noexcept {
  if (c.is_frame()) return run_stolen_task(w, *c.as_frame(), in);
  c.as_inheriting()->inherit(in);
  run(w, c);
}

// Runs the oldest of what only this worker's thread may run. Only one, since it may suspend this stack: the others stay in a list that no
// other thread knows. Other threads may push into the inbox at the same time.
bool run_own(worker& w) noexcept {
  if (resumable* const r = w.due_own.take(); r != nullptr) {
    stop_searching(w);
    run(w, *r);
    return true;
  }
  if (stack* const s = next_in_order(w, nullptr); s != nullptr) [[unlikely]] {
    stop_searching(w);
    resume_stack(*s);
  }
  if (!w.own.empty()) w.take_own();  // also after strands that yield again and again
  resumable* const first = w.search.own;
  if (first == nullptr) return false;
  w.search.own = first->next;
  stop_searching(w);
  run(w, *first);
  return true;
}

// Runs the oldest of a queue. What any worker may take from there counts as visible work.
bool run_oldest(worker& w, due_queue& of) noexcept {
  resumable* const r = of.take();
  if (r == nullptr) return false;
  if (w.pool().steals) w.pool().parking.retract();  // before this worker wakes others for the rest
  stop_searching(w);
  run(w, *r);
  return true;
}

// After much of high priority in a row the worker runs other work for a while, as long as it finds some, and interrupts none.
bool makes_way_for_others(worker& w) noexcept {
  search_state& s = w.search;
  if (w.pool().takes_turns) return s.high_taken >= tuning::high_in_a_row && (s.high_taken = 0, true);  // no clock decides there
  std::int64_t const now = std_sync::now();
  if (s.high_waits_until > now) return true;
  s.high_waits_until = 0;
  if (s.high_taken < tuning::high_in_a_row) return false;
  s.high_taken = 0;
  s.high_waits_until = w.next_interruption = now + tuning::between_interruptions;
  return true;
}

// Looks for events from outside, if this thread has not for long: while no worker is idle only the timer does so else, which is seldom. By
// the clock: an event source may take a microsecond to look, and so may a strand to the next wait.
NOPAL_COLD void look_between_strands(worker& w) noexcept {
  constinit static thread_local std::int64_t next_look = 0;
  std::int64_t const now = std_sync::now();
  if (now < next_look) return;
  next_look = now + tuning::between_looks;
  leave_context(w);
  w.pool().mode.adopt();
  look_at_events(w);
}

// Once in so many times the worker runs other work first, if it finds some: events may come without end.
bool run_what_is_due(worker& w) noexcept {
  if (!w.has_stack_due()) [[likely]]
    return false;
  if (++w.search.due_taken % tuning::due_in_a_row == 0) return false;
  return w.due_own.looks_empty() ? run_oldest(w, w.queues->due) : run_own(w);
}

// Runs what comes before all other work: what is due, then work of high priority.
bool run_first(worker& w) noexcept {
  if (w.pool().events.source() != nullptr && !w.pool().takes_turns) [[unlikely]]
    look_between_strands(w);
  if (run_what_is_due(w)) return true;
  if (w.queues->high.looks_empty()) [[likely]] {
    w.search.high_taken = 0;
    w.search.high_waits_until = 0;
    return false;
  }
  if (makes_way_for_others(w)) return false;
  ++w.search.high_taken;
  tell::makes_way(w);  // where workers take turns: such work need not fork, nor touch a ring
  return run_oldest(w, w.queues->high);
}

// There was no other work: runs what run_first has passed over for it.
bool run_passed_over(worker& w) noexcept {
  w.search.high_waits_until = 0;
  return run_oldest(w, w.queues->due) || run_oldest(w, w.queues->high);
}

// Runs the newest ready entry, since that is in the cache. Every tuning::fairness-th time it runs the oldest; every second such time it
// runs nothing if the inboxes have something. So two fibers that wake each other keep nothing else from starting. Thieves may be at the
// ring.
bool run_ready(worker& w) noexcept {
  if (w.search.own != nullptr) [[unlikely]] {  // in alternation
    w.search.own_was_last = !w.search.own_was_last;
    if (w.search.own_was_last) return run_own(w);
  }
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
    if (w.pop_ready()) {
      stop_searching(w);
      run(w, c);
      return true;
    }
  }
  w.retract_ready();
  return false;
}

// Empties an inbox, this worker's or another's. Other threads may push or take at the same time, but each resumable is taken by one. Returns
// the oldest, which still counts as visible work; null: there was none. The others go to this worker's ring, the newest first, so that this
// worker takes the next oldest next, and thieves the newest.
resumable* take_oldest_job(worker& w, worker& victim) noexcept {
  resumable* const first = victim.open.take_all();
  if (first == nullptr) return nullptr;
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
      if (steals) w.pool().parking.retract();  // the job was counted by itself; the ring counts it now
    }
  } catch (std::bad_alloc const&) {
    while (newest != nullptr) w.open.push(std::exchange(newest, newest->next));
  }
  return first;
}

// As above, and runs the oldest.
bool take_jobs(worker& w, worker& victim) noexcept {
  resumable* const first = take_oldest_job(w, victim);
  if (first == nullptr) return false;
  if (&victim != &w) tell::took(w, victim);
  if (w.pool().steals) w.pool().parking.retract();  // as in run_oldest
  stop_searching(w);
  run(w, *first);
  return true;
}

// Returns the join that the victim's offered work descends from, pinned, so that the victim changes neither join. Null: unknown.
void const* pin_joins(worker& victim, void const*& far) noexcept {
  void const* const near = victim.near.look();
  if (near == nullptr || !victim.near.pin(near)) return nullptr;
  far = victim.far.look();
  return near;
}

// The thief has taken the oldest ready entry of `victim`: takes half of the public rest too, since taking short fibers one by one may cost
// more than they do. The worker runs the oldest of them next; others may steal the rest from it.
void take_half(worker& w, worker& victim) noexcept {
  tell::took(w, victim);
  deque::index n = std::min((victim.ready.bottom() - victim.ready.oldest()) / 2, tuning::most_taken);
  if (n <= 0 || w.pool().takes_turns) return;
  try {
    w.ready.ensure_room(n);
  } catch (std::bad_alloc const&) {
    return;
  }
  resumable* newest = nullptr;
  for (; n > 0; --n) {
    deque::entry const e = victim.ready.steal(nullptr, false);
    if (e == 0) break;
    tell::tries(w, victim);
    resumable* const r = continuation{e}.as_resumable();
    r->next = std::exchange(newest, r);
  }
  while (newest != nullptr) {
    resumable& r = *std::exchange(newest, newest->next);  // its link is read before it is offered
    w.make_ready(r);
  }
}

// Tries one other worker once: its deque, its ring, its open inbox. The owner and other thieves may be at all of these at the same time;
// deque/README.md says which of them gets what. `only`: see run_from_others.
bool steal_from(worker& w, worker& victim, job const* only) noexcept {
  w.count.add(counted::steal_attempts);
  tell::tries(w, victim);
  job* const its = victim.busy_with.load(std::memory_order_relaxed);  // relaxed: a hint
  if (only != nullptr && its != only) return false;
  if (!victim.work.looks_empty()) {
    strand_context in;
    void const* far = nullptr;
    void const* const near = pin_joins(victim, far);
    deque::entry const e = victim.work.steal(&in);
    if (near != nullptr) victim.near.unpin();
    if (e != 0) {
      tell::took(w, victim);
      stop_searching(w);
      w.busy_with.store(its, std::memory_order_relaxed);  // relaxed: a hint
      w.descends_from(near, far);
      tell::may_come_later(w);
      run_stolen(w, continuation{e}, in);
      return true;
    }
  }
  if (only != nullptr) return false;
  if (!victim.ready.looks_empty()) {
    if (deque::entry const e = victim.ready.steal(); e != 0) {
      take_half(w, victim);
      tell::may_come_later(w);
      stop_searching(w);
      run(w, continuation{e});
      return true;
    }
  }
  return take_jobs(w, victim);
}

// The worker that the thief tries as its k-th. An index that is no other worker's: none.
unsigned next_victim(worker& w, unsigned k) noexcept {
  pool_state& pool = w.pool();
  if (pool.choose_victim) [[unlikely]]
    return pool.choose_victim(w.index(), pool.size(), w.search.random());
  victim_table const& victims = w.search.victims;
  return victims.scans() ? victims.in_order(k) : victims.pick(w.search.random());
}

// Runs what this worker's inboxes hold. What only its thread may run and what any may run take turns at being first, since each may be
// refilled for ever. Where the latter is, the former comes after the search at other workers, since it may wait for something that one of
// them holds.
bool run_from_inboxes(worker& w) noexcept {
  w.search.own_first = !w.search.own_first;
  return (w.search.own_first && run_own(w)) || take_jobs(w, w);
}

// Tries other workers once. `only`: null; or the job, of whose strands alone it takes some. O(workers).
bool run_from_others(worker& w, job const* only) noexcept {
  pool_state& pool = w.pool();
  if (!pool.steals || w.search.victims.empty() || (only == nullptr && !pool.parking.visible_work())) return false;
  // As many tries as there are other workers, before the caller considers sleep. Each victim is drawn anew, or is the next of a scan.
  for (unsigned k = 0; k + 1 < pool.size(); ++k) {
    unsigned const victim = next_victim(w, k);
    if (victim < pool.size() && victim != w.index() && steal_from(w, *pool.workers[victim], only)) return true;
  }
  return false;
}

// By a thread that is about to sleep. The system wakes a thread where it fell asleep, as a rule, and on a small or busy machine also if
// its waker keeps that CPU. So if another thread of the pool sleeps here, this one moves to a CPU where none does: then whoever runs here
// next has the others beside it. O(workers), or where it moves O(workers²).
NOPAL_COLD void move_apart(worker const& w) noexcept {
  pool_state const& pool = w.pool();
  auto const some_sleep_on = [&](int cpu) {
    return std::ranges::any_of(pool.workers, [&](worker const* other) {
      // relaxed: a hint
      return other != &w && other->sleeps_on.load(std::memory_order_relaxed) == cpu && pool.parking.is_asleep(other->index());
    });
  };
  int const here = ::sched_getcpu();
  if (!some_sleep_on(here)) return;
  for (unsigned k = 0; k < pool.size(); ++k) {
    int const cpu = pool.places[(w.index() + k) % pool.size()].cpu;
    if (cpu != here && !some_sleep_on(cpu) && move_to_cpu(cpu) == 0) return;
  }
}

// Parks the worker's thread, unless it must stay awake. `before()` runs once it is parked. Returns whether it slept.
template <class F>
bool park_after(worker& w, F before) noexcept {
  pool_state& pool = w.pool();
  return pool.parking.park(
      w.index(), [&] { return must_stay_awake(pool, w.index()); },
      [&] {
        w.count.add(counted::sleeps);
        before();
        w.sleeps_on.store(::sched_getcpu(), std::memory_order_relaxed);  // relaxed: a hint
      });
}

// Out of line: its frame takes a page for the affinity masks, and all fibers run on top of search_on's.
NOPAL_COLD bool park_bound(worker& w, int cpu) noexcept {
  std::optional<bound_to_cpu> while_it_sleeps;
  return park_after(w, [&] { while_it_sleeps.emplace(cpu); });
}

// In a pool that is pinned: the thread sleeps on its CPU. Binding it there takes it some 25 us as it wakes up, and the system mostly wakes a
// thread where it fell asleep. So it is bound where it runs elsewhere, and a number of times after it woke up elsewhere.
bool park_on_own_cpu(worker& w) noexcept {
  int const cpu = w.pool().places[w.index()].cpu;
  unsigned& bound = w.search.bound_sleeps;
  if (bound != 0) {
    --bound;
    return park_bound(w, cpu);
  }
  if (::sched_getcpu() != cpu) return park_bound(w, cpu);
  bool const slept = park_after(w, [] {});
  if (slept && ::sched_getcpu() != cpu) bound = tuning::bound_sleeps;
  return slept;
}

// The worker's thread has found nothing for long, and counts as a thief. It sleeps, unless it must stay awake as the last thief of its
// node, or something waits for it. While it sleeps, an external caller may occupy the worker. True: it slept, and all fields of the worker
// that are not reset here are as an external caller may have left them.
NOPAL_COLD bool sleep(worker& w, stack& mine) noexcept {
  pool_state& pool = w.pool();
  unsigned const i = w.index();
  w.search.searching = false;  // parking counts this thread; an external caller in its place is no thief
  spare_before_sleep(w, mine);
  watch_for_stuck_pool(pool);
  tell::sleeps(w);
  bool slept = false;
  if (pool.events.source() != nullptr && pool.events.enter()) {
    slept = pool.parking.watch(
        i, [&] { return must_stay_awake(pool, i); },
        [&] {
          w.count.add(counted::sleeps);
          w.sleeps_on.store(::sched_getcpu(), std::memory_order_relaxed);  // relaxed: a hint
          pool.events.wait();
        });
    look_at_entered_events(w);
    if (slept) look_at_events_later(pool);
    slept = slept || w.has_more();                                               // as in search_once
  } else if (pool.events.source() == nullptr || pool.events.somebody_waits()) {  // else another thread polls now: none would wait
    slept = pool.pinned ? park_on_own_cpu(w) : park_after(w, [&] {
      if (pool.keeps_apart) move_apart(w);
    });
  }
  tell::wakes(w, slept);
  w.spare.works_again();
  w.search.searching = true;
  // Also if it has not slept: an external caller may have come and gone between park's store and its exchange.
  w.began_on = w.thread_began_on;
  w.here = &mine;
  if (!slept) return false;
  w.count.add(counted::wakeups);
  w.search.woken = true;
  w.search.idle_since = 0;
  w.search.nap = tuning::shortest_nap;
  return true;
}

// Before a long nap the worker requests work of all others, so that the next fork of each ends the nap. True: something new ended it.
bool nap_for(worker& w, std::int64_t nanoseconds) noexcept {
  if (nanoseconds < tuning::nap_until_news) {
    std_sync::sleep(nanoseconds);
    return false;
  }
  for (worker* const other : w.pool().workers) {
    if (other == &w) continue;
    other->work.request();
    other->ready.request();
  }
  return w.pool().naps.nap(nanoseconds);
}

// The one thief of its node that must stay awake has found nothing for long: others are busy with strands that offer nothing.
void nap(worker& w) noexcept {
  search_state& s = w.search;
  tell::naps(w, s.nap);
  bool const ended_by_news = nap_for(w, some_await_turn(w) ? std::min(s.nap, tuning::longest_doze) : s.nap);
  tell::napped(w);
  s.nap = ended_by_news ? tuning::shortest_nap : std::min(2 * s.nap, tuning::longest_nap);
}

// Pauses before the next search: longer each time, plus a random part, so that thieves do not all come at once. Ends early when visible
// work appears or disappears.
void back_off(worker& w, bool work_was_visible) noexcept {
  if (!w.pool().backs_off) return static_cast<void>(tell::pauses(w, 1));
  w.count.add(counted::pauses);
  search_state& s = w.search;
  auto const pause = s.backoff + s.random() % s.backoff;
  if (s.backoff < tuning::longest_backoff) s.backoff *= 2;
  if (tell::pauses(w, pause)) return;
  for (std::uint64_t k = 0; k < pause && w.pool().parking.visible_work() == work_was_visible; ++k) cpu_relax();
}

// Searches once under a controlled schedule: first the worker whose fork let this one run.
void search_in_turn(worker& w) noexcept {
  pool_state& pool = w.pool();
  w.stacks.share();
  unsigned const victim = w.observed->victim(w.index());
  if (victim != observer::no_worker && pool.steals && steal_from(w, *pool.workers[victim], nullptr)) return;
  if (run_from_inboxes(w) || run_from_others(w, nullptr) || (!w.search.own_first && run_own(w)) || run_oldest(w, w.queues->low)) return;
  if (run_passed_over(w)) return;
  w.observed->found_nothing(w.index());
}

// Searches once, by the worker's own thread, and pauses or sleeps if it finds nothing. False: the pool ends.
bool search_once(worker& w, stack& mine) noexcept {
  pool_state& pool = w.pool();
  leave_context(w);
  if (pool.stopping.load(std::memory_order_relaxed)) return false;  // relaxed: a hint; must_stay_awake reads it again before a sleep
  if (pool.takes_turns) [[unlikely]] {
    search_in_turn(w);
    return true;
  }
  pool.mode.adopt();  // the mode of the strand before would be a trap here; what runs next adopts its own
  // Where these return true, another worker may run this stack now, and w must not be used. For its own inboxes a worker becomes no thief,
  // as for its ring: what it runs next was there while it ran the strand before.
  if (run_from_inboxes(w)) return true;
  search_state& s = w.search;
  if (!std::exchange(s.searching, true)) {
    pool.parking.start_searching(w.index());
    tell::searches(w, true);
    w.stacks.share();
  }
  if (run_from_others(w, nullptr) || (!s.own_first && run_own(w)) || run_oldest(w, w.queues->low)) return true;
  if (run_passed_over(w)) return true;
  if (pool.events.source() != nullptr) {
    look_at_events(w);
    if (w.has_more()) return true;  // must_stay_awake does not see what only this thread may run
  }

  std::int64_t const now = std_sync::now();
  if (s.idle_since == 0) s.idle_since = now;
  std::int64_t const idle_for = now - s.idle_since;
  if (pool.idle == idle::lazy && idle_for > pool.search_before_sleep) {
    w.give_permit();
    if ((some_await_turn(w) || !sleep(w, mine)) && idle_for > tuning::search_before_naps) nap(w);
  }
  bool const visible = pool.parking.visible_work();
  back_off(w, visible);
  bool const stays_long = visible || pool.idle == idle::busy || idle_for > tuning::search_before_sleep;
  if (idle_for > tuning::search_before_yield && stays_long) std_sync::yield();
  return true;
}

// Searches once, by a worker's thread that has left a stack on top of which it should wait. It runs what is for this thread alone, that
// stack first, and what descends from the join at which that stack waits. It is no thief, and takes nothing else. False: all others wait
// like this, so it must search for anything.
bool search_below_join(worker& w) noexcept {
  search_state& s = w.search;
  top_wait& t = *s.left;
  if (t.runs_anything) return false;
  leave_context(w);
  w.pool().mode.adopt();  // as in search_once
  if (is_stalled(w) && others_are_stalled(w)) {
    t.runs_anything = true;
    return false;
  }
  if (run_own(w)) return true;
  strand_context in;
  if (deque::entry const e = t.join == nullptr ? 0 : steal_below(w, t.join, true, in); e != 0) {
    stop_searching(w);
    w.makes_progress();
    w.descends_from(t.join, t.join);
    run_stolen(w, continuation{e}, in);
    return true;
  }
  if (t.join == nullptr) return doze(w, t, longest_sleep(w));
  std::int64_t const now = std_sync::now();
  if (s.idle_since == 0) s.idle_since = now;
  std::int64_t const idle_for = now - s.idle_since;
  if (idle_for > tuning::search_before_sleep) return doze(w, t, tuning::longest_doze);
  back_off(w, w.pool().parking.visible_work());
  if (idle_for > tuning::search_before_yield) std_sync::yield();
  return true;
}

// Searches once, by an external caller, for strands of its own job. False: the job has ended, or there has been nothing to help with for
// long, or the worker's thread is needed.
bool search_as_external_caller(worker& w) noexcept {
  event const& done = *w.occupant.done;
  if (done.is_set() || must_stay_awake(w.pool(), w.index())) return false;
  leave_context(w);
  w.stacks.share();
  if (run_from_others(w, w.occupant.own_job)) return true;
  search_state& s = w.search;
  std::int64_t const now = std_sync::now();
  if (s.idle_since == 0) s.idle_since = now;
  std::int64_t const idle_for = now - s.idle_since;
  if (idle_for >= tuning::search_before_sleep) return false;
  for (int k = 0; k < tuning::pauses_of_external_caller && !done.is_set(); ++k) cpu_relax();
  if (idle_for > tuning::search_before_yield) std_sync::yield();
  return true;
}

// True if the worker's thread has left a stack that only it resumes, and which may be ready. Its frames may hold a lock that a thread with a
// permit waits for. Nobody who brings it such a stack knows that it waits for a permit.
bool must_not_wait_for_permit(worker& w) noexcept {
  search_state const& s = w.search;
  return s.left != nullptr || s.left_in_order != nullptr || s.own != nullptr || !w.own.empty() || !w.due_own.empty();
}

// The pool has a limit. By the worker's thread, at the base of a native stack: returns with a permit. It may have waited for it.
NOPAL_COLD void hold_permit(worker& w) noexcept {
  permits& all = *w.pool().limit;
  search_state& s = w.search;
  if (s.may_run) {
    if (!must_give_permit(w)) [[likely]]
      return;
    all.give();
  }
  bool const stacks_stay =
      w.pool().stacks_stay.load(std::memory_order_relaxed);  // relaxed: this thread has set it before it left such a stack
  all.take(w, w.pool().stopping, stacks_stay ? must_not_wait_for_permit : nullptr);
  s.may_run = true;
  s.may_run_since = std_sync::now();
}

}  // namespace

bool must_give_permit(worker const& w) noexcept {
  search_state const& s = w.search;
  return s.may_run && w.pool().limit->are_waited_for() && (s.idle_since != 0 || std_sync::now() - s.may_run_since >= tuning::permit_slice);
}

bool must_stay_awake(pool_state const& pool, unsigned i) noexcept {
  worker const& w = *pool.workers[i];
  return pool.stopping.load(std::memory_order_seq_cst) || !w.own.empty() || !w.open.empty() || !w.ready.empty() || !w.queues->empty() ||
         !w.due_own.empty();
}

resumable* take_oldest_job(worker& w) noexcept { return take_oldest_job(w, w); }

void search_on(stack& mine) noexcept {
  for (;;) {
    worker& w = *current();
    tell::runs_none(w);
    if (w.pool().limit != nullptr) [[unlikely]]
      hold_permit(w);
    if (w.occupant.here) {
      if (!search_as_external_caller(w)) return;
    } else if (bool const below = w.search.left != nullptr && search_below_join(w);
               !below && !run_first(w) && !run_ready(w) && !search_once(w, mine)) {
      w.give_permit();
      return;
    }
  }
}

void search_for_work(context& c) noexcept {
  auto& mine = static_cast<stack&>(c);
  search_on(mine);
  leave_for_thread(mine);
}

}  // namespace nopal::core
