#include "nopal/core/task/slow_path.hpp"

#include <new>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "observe/tell.hpp"
#include "task/waiting_task_access.hpp"

namespace nopal::inline NOPAL_ABI::core {

void die_unjoined(std::exception_ptr e) noexcept {  // NOLINT(performance-unnecessary-value-param): it does not return
  if (e == nullptr) {
    die("a task ended with forked children not joined; write co_await nopal::join before every co_return that follows a fork");
  }
  die_in(nullptr,
         "an exception left a task between fork and join, while forked children may still use its variables (%s); "
         "catch it in the task, co_await nopal::join, then rethrow",
         message_of(e));
}

void die_called_directly() noexcept {
  if (state_here()->works()) {
    die("a task's function was called directly on a worker, so that its result would go to another task's slot; inside a task use "
        "co_await nopal::call(f, args...), in an ordinary function nopal::sync_wait(f, args...)");
  }
  die("a task's function was called directly outside a pool; use nopal::pool::run(f, args...), or inside a task "
      "co_await nopal::call(f, args...)");
}

// ---- Memory.

// The arena's topmost segment is full. Thieves may be at the deque. Adds a segment, which the worker that started this child must leave
// again once the child has returned. A caller learns that from the alarm: the stack pointer of this function's caller, which is the child's
// function or, if that was inlined, the caller itself. A forker learns it from its pop, since its entry is public from now on and stays so
// (worker::floor). Thieves may take it before that.
void* grow_arena(fork_state& here, std::size_t n) {
  if (!here.works() || here.parent_word == 0) die_called_directly();
  check_memory_of_frames(here, n, here.parent_word);
  void* const p = here.arena.grow(n);
  if (here.arena.segment()->below == nullptr) return p;  // no task's frame is below it
  worker& w = static_cast<worker&>(here);
  w.arena.segment()->alarm = w.alarm;
  w.arena.segment()->floor = w.work.bottom();
  w.alarm = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  w.work.publish_all();
  return p;
}

void* allocate_in_body(worker& w, std::size_t n, frame const& of) {
  if (void* p; w.arena.bump(n, p)) return p;
  check_memory_of_frames(w, n, of.parent_word);
  return w.arena.grow(n);
}

// ---- Unwinding to the loop at the stack's base.

// A task must stay suspended, and its worker returns to the loop. No entry of the strand is private any more: so from now on every pop on
// the way down fails and is rolled back, and every called parent finds alarm 0 and suspends. Thieves may run the forked parents at the same
// time.
static bool unwind(worker& w, strand::next_step then) noexcept {
  w.strand.unwinding = true;
  w.strand.next = then;
  w.alarm = 0;
  return true;
}

// A child has returned, with an exception or the first frame of a segment: restores the alarm and leaves an empty segment.
static void settle(worker& w) noexcept {
  if (w.strand.threw) w.alarm = w.strand.alarm_before;
  if (std::uintptr_t const a = w.arena.tidy(); a != arena::keep) w.alarm = a;
}

// A forked child has returned, and its parent's entry is not private. Thieves may be at that entry. Either everything unwinds; or the entry
// is public and still there, and pop_slow decides between this worker and the thieves; or it was stolen, and with it all older ones. Then a
// thief may run the parent already: the loop tells p's join that the child has ended, after the native frames below, of suspended tasks,
// have returned.
bool forked_returned(worker& w, frame* p) {
  if (w.strand.unwinding) {
    w.work.unpop();
    return true;
  }
  bool const mine = w.work.pop_slow(w.floor());
  settle(w);
  if (!mine) {
    w.strand.lost = p;
    w.strand.ended_in = control_words::now();
    return unwind(w, strand::next_step::lost_parent);
  }
  if (w.strand.threw) {
    child_failed(w, p);
    if (std::exchange(w.strand.not_started, false) && p->steals() == 0) p->rethrow();
  }
  return false;
}

// A called child has returned and the alarm is set: everything unwinds, the child left an empty segment, or it has thrown. No other worker
// can have the parent, which is in no deque. With an exception the parent first waits for the children that it has forked before.
bool called_returned(worker& w, frame* p) noexcept {
  if (w.strand.unwinding) return true;
  settle(w);
  if (!w.strand.threw) return false;
  w.strand.not_started = false;
  child_failed(w, p);
  return join_task(w, p);
}

// ---- Joins.

void take_over(worker& w, frame& f) noexcept {
  w.arena.attach(f.arena);
  w.continue_in({{f.mode(), w.region}, w.values});  // the region and the values are those in which the last child has ended
  if (!f.join.modes_agree()) die_of_mode();
  f.complete();
}

// The parent is suspended at its join. Children that lost it to thieves may be running, on other workers; each arrives at the join word
// when it ends. Either all have arrived, and the parent continues here; or the last one resumes it, on its own worker: after an
// announcement that returned false this worker must not touch `p`, which may have ended.
bool join_task(worker& w, frame* p) noexcept {
  if (p->steals() > 0) {
    // A stolen task runs at the base of its strand, on an arena that its children have left empty: README.md, invariant 5.
    tell::must_come_in_order(w);
    if (!p->announce(control_words::now())) {
      w.count.add(counted::suspensions);
      tell::task_waits(w, p);
      return unwind(w, strand::next_step::nothing);
    }
    take_over(w, *p);
  }
  if ((p->state & frame::thrown) != 0) must_throw_into(w, p);
  return false;
}

bool join_task_or_throw(worker& w, frame* p) {
  if (join_task(w, p)) return true;
  if (w.strand.throwing == p) rethrow_into_task(w);
  return false;
}

void rethrow_into_task(worker& w) {
  frame* const p = std::exchange(w.strand.throwing, nullptr);
  w.alarm = w.strand.alarm_before;
  p->rethrow();
}

bool fail_task(worker& w, frame* p, std::exception_ptr e) noexcept {
  p->record(p->steals(), std::move(e));
  p->state |= frame::thrown;
  return join_task(w, p);
}

// ---- Forks that poll.

void prepare_to_offer(worker& w) {
  if (!may_offer_here(w)) throw std::bad_alloc{};
}

// ---- Moves and deferred starts.

// The task is suspended, and no other worker has it. Its ancestors may be in the deque, where thieves may take them; the rest needs memory
// once the loop gives them away. That memory suffices: until then the deque can only get shorter, since what runs during unwinding leaves
// it as it was, or empty.
bool move_task(worker& w, move_request& m) {
  if (!m.memory.get(w.work)) throw std::bad_alloc{};
  w.work.publish_all();
  m.inherit(w.runs_in());
  w.strand.moving = &m;
  return unwind(w, strand::next_step::move);
}

bool task_may_wait_here() noexcept {
  worker const* const w = current_or_null();
  return w != nullptr && w->alarm != worker::no_tasks && !w->stack_stays() && !w->waits_on_top();
}

// As move_task. The task's ancestors that are in the deque go where any worker may take them.
bool wait_without_stack(worker& w, waiting_task& t) noexcept {
  if (!task_may_wait_here()) return false;
  if (!waiting_task_access::begin_memory(t).get(w.work)) {
    waiting_task_access::end_memory(t);
    return false;
  }
  w.work.publish_all();
  t.inherit(w.runs_in());
  w.count.add(counted::suspensions);
  w.strand.waiting = &t;
  return unwind(w, strand::next_step::wait);
}

bool waiting_task::wait() noexcept {
  suspended_ = true;
  if (wait_without_stack(*current(), *this)) return true;
  try {
    here_(*this);
    return false;
  } catch (...) {
    error = std::current_exception();
  }
  if ((task_.state & frame::open) == 0) return false;
  return fail_task(*current(), &task_, std::exchange(error, nullptr));
}

void waiting_task::rethrow_failure() {
  if (error != nullptr) std::rethrow_exception(std::exchange(error, nullptr));
  if (worker& w = *current(); w.must_throw()) rethrow_into_task(w);
}

// The native stack is low: once the strand is at its base, the loop nests as deep again, above the entries that are there now. README.md,
// "Depth".
void prepare_to_defer(worker& w) { w.work.ensure_room(w.most_entries()); }

// The arguments are in the arena, and the parent is suspended. A forked parent may be stolen from now on: its child still starts in the
// loop.
void defer_start(worker& w, deferred_start* d) noexcept {
  w.work.publish_all();
  d->runs_in = w.runs_in();
  w.strand.deferred = d;
  unwind(w, strand::next_step::deferred);
}

// ---- Exceptions.

// A child has thrown, and returns to its native caller. Thieves may take the parent if it was forked. Leaves the exception in the strand,
// where that caller finds it: a call by the alarm, a fork by its pop, which fails since the entry is public.
void child_threw(worker& w) noexcept {
  w.strand.exception = caught();
  w.strand.threw = true;
  if (w.alarm != 0) w.strand.alarm_before = w.alarm;
  w.alarm = 0;
  w.work.publish_all();
}

void start_threw(worker& w) noexcept {
  w.strand.not_started = true;
  child_threw(w);
}

void keep_exception(worker& w, frame* p, std::uint64_t epoch) noexcept {
  w.strand.threw = false;
  p->record(epoch, std::exchange(w.strand.exception, nullptr));
}

void child_failed(worker& w, frame* p) noexcept {
  keep_exception(w, p, p->steals());
  p->state |= frame::thrown;
}

void must_throw_into(worker& w, frame* p) noexcept {
  w.strand.throwing = p;
  if (w.alarm != 0) w.strand.alarm_before = w.alarm;
  w.alarm = 0;
}

}  // namespace nopal::core
