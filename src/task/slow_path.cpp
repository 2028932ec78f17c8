// Where a fork of tasks does not go the fast way, and the loop at the base of a strand.

#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/task/waiting_task.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Waiting without a stack.

// What the loop does with a task that waits without a stack. By the worker that owns the task.
struct waiting_task_access {
  static frame& task(waiting_task& t) noexcept { return t.task_; }
  static stacklet* arena(waiting_task& t) noexcept { return t.arena_; }
  /// For the ancestors of the task. From begin_memory until end_memory.
  static orphan_memory& memory(waiting_task& t) noexcept { return *std::launder(reinterpret_cast<orphan_memory*>(t.memory_)); }
  static orphan_memory& begin_memory(waiting_task& t) noexcept {
    static_assert(sizeof(orphan_memory) <= sizeof t.memory_ && alignof(orphan_memory) <= 8);
    return *::new (static_cast<void*>(t.memory_)) orphan_memory;
  }
  static void end_memory(waiting_task& t) noexcept { std::destroy_at(&memory(t)); }
  static bool step(waiting_task& t, bool woken) noexcept { return t.step_(t, woken); }
  static std::exception_ptr take_error(waiting_task& t) noexcept { return std::exchange(t.error, nullptr); }
  /// `w` leaves the task, which takes its arena along. `continues` is called once it need not wait any more. Reports list the task until
  /// `unlist`.
  static void leaves(waiting_task& t, worker& w, stacklet* arena, resumable::run_function continues) noexcept {
    t.run = continues;
    t.arena_ = arena;
    t.pool_ = &w.pool();
    t.left_by_ = w.index();
    t.is_high_ = w.region != no_region && priority_in(w.region) == priority::high;
    t.listed_.task = &t.task_;
    t.listed_.function = t.task_.resume_function;
    t.listed_.since = coarse_now();
    t.pool_->tasks_that_wait.enter(t.left_by_, t.listed_);
  }
  /// The task need not wait any more, and is about to continue.
  static void unlist(waiting_task& t) noexcept { t.pool_->tasks_that_wait.leave(t.left_by_, t.listed_); }
};

void waiting_task::ready() noexcept { give_to_some_worker(*pool_, *this, left_by_, is_high_); }

static_assert(sizeof(timer_entry) <= 192 && alignof(timer_entry) <= 8);

timer_entry* waiting_task::begin_limit(waiter& me, time_point until, bool unless_asked) {
  me.timed = false;
  limited_ = false;
  if (unless_asked && until == time_point::max() && !wait_may_end_early()) return nullptr;
  stop_region* const region = region_of_wait();
  region_deadline const of_region{region};
  deadline_ = std::min(deadline_here(until), of_region.here());
  ends_region_ = region != nullptr && deadline_ == of_region.here() && deadline_ != region->deadline();
  me.claimed.store(false, std::memory_order_relaxed);  // no other thread knows it
  auto* const e = ::new (static_cast<void*>(limit_))
      timer_entry{deadline_ != time_point::max() ? &current()->pool().timer : nullptr, me, deadline_, region};
  limited_ = true;
  return e;
}

bool waiting_task::end_limit() noexcept {
  if (!std::exchange(limited_, false)) return false;
  auto* const e = std::launder(reinterpret_cast<timer_entry*>(limit_));
  bool const expired = e->expired();
  std::destroy_at(e);  // takes the locks of the timer and of the request: afterwards neither knows the waiter
  if (expired && ends_region_) region_of_wait()->request.make();  // as region_deadline::passed
  return expired;
}

void waiting_task::start(timer_entry* e) noexcept { e->start(); }

// ---- The slow path of a task's fork.

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
    error = caught();
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

// ---- The loop at the base of a strand.

namespace {

constexpr std::uint64_t never_stolen = 0;  // the epoch of a child above its parent in one arena

/// What the strand runs next: a task, a deferred start, or nothing.
struct next {
  frame* task = nullptr;
  deferred_start* deferred = nullptr;
  explicit operator bool() const noexcept { return task != nullptr || deferred != nullptr; }
};

void job_ended(worker& w, job& r) noexcept {
  if (std::exchange(w.strand.threw, false)) r.error = std::exchange(w.strand.exception, nullptr);
  if (r.is_counted) [[unlikely]]
    tell::job_ends(w);
  r.finish(r);
}

// A child of `p` has ended here after `p` was stolen. Another worker may run `p`, and p's other children; or `p` waits at its join. Tells
// the join. After that this worker must not touch `p`, unless this was the last child of a parent that waits: then returns `p`, to be
// resumed here. `ended_in`: the mode in which the child has ended, as the parent's fork had it; for a function leaves the mode as it was.
frame* arrive(worker& w, frame* p, control_words ended_in) noexcept {
  w.rewind_if_empty();  // if p was stolen from here, so were all older entries; otherwise a saved strand's may be here
  // If the arena still holds something, it is p and its ancestors: then the child was forked before p was ever stolen in this scope.
  // Otherwise the child was at the bottom of an arena that began with p's theft.
  bool const holds_parent = !w.arena.empty();
  w.strand.not_started = false;
  if (w.strand.threw) keep_exception(w, p, holds_parent ? never_stolen : w.arena.epoch);
  if (holds_parent) p->arena = w.arena.detach();
  tell::must_come_in_order(w);
  if (!p->join.arrive(digest(ended_in))) return nullptr;
  take_over(w, *p);
  tell::task_resumes(w, p);
  if ((p->state & frame::thrown) != 0) w.strand.throwing = p;
  return p;
}

// A task that this loop resumed, or a child that it started, has ended. Thieves may be at its parent's entry. Returns the parent if it may
// be resumed here, or null.
frame* parent_to_resume(worker& w, std::uintptr_t parent_of_it) noexcept {
  std::uintptr_t const address = parent_of_it & ~parent_bits;
  auto* const p = reinterpret_cast<frame*>(address);  // NOLINT(performance-no-int-to-ptr)
  w.strand.not_started = false;
  switch (parent_of_it & kind_mask) {
    case of_job: job_ended(w, *reinterpret_cast<job*>(address)); return nullptr;  // NOLINT(performance-no-int-to-ptr)
    case called:
      if (p == nullptr) die_called_directly();
      if (!w.strand.threw) return p;
      child_failed(w, p);
      if (!join_task(w, p)) return p;
      w.strand.unwinding = false;  // there is nothing to unwind at the base
      w.alarm = worker::no_alarm;
      return nullptr;
    default:
      // The deque may hold nothing of this strand; entries below the floor belong to saved strands, and are not popped here.
      if (w.work.bottom() == w.strand.floor || (!w.work.pop() && !w.work.pop_slow(w.floor()))) return arrive(w, p, control_words::now());
      if (w.strand.threw) child_failed(w, p);
      return p;
  }
}

// The task is suspended and moves. Thieves may take its ancestors out of the deque. The rest have no native frames any more, so they go
// where any worker may take them, as if stolen. Once the task is sent it may run, and end, on the other worker.
void send_away(worker& w, move_request& m) noexcept {
  m.task->arena = w.arena.detach();
  give_everything_away(w, m.memory);
  m.run = run_moved_task;
  send(m);
}

// What the task waited for has happened, or its wait has failed, and this worker owns the task, at the base of a strand whose arena is empty.
// Returns the task; or nothing, if the wait has failed between fork and join, and children still run: the last one resumes the task.
next end_of_wait(waiting_task& t) noexcept {
  waiting_task_access::unlist(t);
  worker& w = *current();
  frame& f = waiting_task_access::task(t);
  if (stacklet* const a = waiting_task_access::arena(t); a != nullptr) {
    w.arena.attach(a);
  } else {
    w.arena.epoch = f.steals();
  }
  if ((f.state & frame::open) == 0) return {&f};
  if (std::exception_ptr e = waiting_task_access::take_error(t); e != nullptr) {
    f.record(f.steals(), std::move(e));
    f.state |= frame::thrown;
    if (join_task(w, &f)) {
      w.strand.unwinding = false;  // there is nothing to unwind at the base
      w.alarm = worker::no_alarm;
      return {};
    }
  }
  return {&f};
}

// The task is suspended and waits. Its ancestors go where any worker may take them, as if stolen. From its step on the task may continue,
// and end, elsewhere; and this native stack may wait for a lock, and continue on another worker.
next begin_to_wait(worker& w, waiting_task& t) noexcept {
  waiting_task_access::leaves(t, w, w.arena.detach(), run_waiting_task);
  give_everything_away(w, waiting_task_access::memory(t));
  waiting_task_access::end_memory(t);
  tell::must_come_in_order(w);
  if (waiting_task_access::step(t, false)) return {};
  return end_of_wait(t);
}

// Every native frame of the strand has unwound. Does what the slow path has left to do in strand.next, and returns what to run then.
next after_unwinding(worker& w) noexcept {
  strand& s = w.strand;
  s.unwinding = false;
  switch (s.next) {
    case strand::next_step::lost_parent: return {arrive(w, s.lost, s.ended_in), nullptr};
    case strand::next_step::deferred: return {nullptr, std::exchange(s.deferred, nullptr)};
    case strand::next_step::move: send_away(w, *std::exchange(s.moving, nullptr)); break;
    case strand::next_step::wait: return begin_to_wait(w, *std::exchange(s.waiting, nullptr));
    case strand::next_step::nothing: break;
  }
  return {};
}

// Runs `n`, and what becomes ready by its end, until nothing is left of the strand.
void loop(next n) noexcept {
  std::uintptr_t const below = current()->here->origin;
  while (n) {
    std::uintptr_t parent_of_it;
    if (n.task != nullptr) {
      parent_of_it = n.task->parent_word;
      if (worker& w = *current(); n.task == w.strand.throwing) must_throw_into(w, n.task);
      current()->here->origin = reinterpret_cast<std::uintptr_t>(n.task) | 1;
      n.task->coroutine().resume();
    } else {
      current()->continue_in(n.deferred->runs_in);
      parent_of_it = reinterpret_cast<std::uintptr_t>(n.deferred->parent) | n.deferred->how;
      n.deferred->start(n.deferred);
    }
    // Back at the base, with no native frame of the strand above. Another worker may run this native stack now.
    worker& w = *current();
    w.here->origin = below;
    w.alarm = worker::no_alarm;
    if (!w.strand.unwinding) {
      w.arena.tidy();
      n = {parent_to_resume(w, parent_of_it), nullptr};
    } else {
      n = after_unwinding(w);
    }
  }
  current()->end_strand();
}

void run_job_here(worker& before, job& r) noexcept {
  before.busy_with.store(&r, std::memory_order_relaxed);  // relaxed: a hint
  before.begin_child_of(&r);
  before.adopt(r.inherited());
  before.begin_strand();
  before.parent_word = reinterpret_cast<std::uintptr_t>(&r) | of_job;
  r.start(r);
  worker& w = *current();
  w.alarm = worker::no_alarm;
  if (w.strand.unwinding) [[unlikely]]
    return loop(after_unwinding(w));
  w.arena.tidy();
  w.strand.not_started = false;
  job_ended(w, r);
  current()->end_strand();
}

// A task runs at the base of this stack, until the strand ends. A task that is resumed elsewhere after a co_await leaves this stack, too.
void run_strand(worker& w, frame& f) noexcept {
  held_mutexes const mutexes{*w.here};
  w.begin_strand();
  loop({&f, nullptr});
  mutexes.check(*current()->here, "a task, or its part before a co_await,");
}

}  // namespace

void run_job(worker& w, job& r) noexcept {
  held_mutexes const mutexes{*w.here};
  run_job_here(w, r);
  mutexes.check(*current()->here, "a job");
}

void run_injected_job(resumable& r, worker& w) noexcept {
  tell::strand_begins(w, strand_kind::job, static_cast<job&>(r).start);
  if (static_cast<job&>(r).is_counted) [[unlikely]]
    tell::job_begins(w);
  run_job(w, static_cast<job&>(r));
}

// The thief owns the task now, and runs it on its own empty arena. The arena that holds the task stays with the child that runs above it,
// on the worker from which the task was stolen.
void run_stolen_task(worker& w, frame& f, strand_context const& in) noexcept {
  tell::strand_begins(w, strand_kind::task, f.resume_function, &f);
  w.adopt(in);
  f.stolen_in(in.mode);
  w.arena.epoch = f.steals();
  run_strand(w, f);
}

// This worker owns the task now, which has come with the arena that holds it. A task without one begins an empty arena here, with its own
// epoch.
void run_moved_task(resumable& r, worker& w) noexcept {
  auto const& m = static_cast<move_request const&>(r);
  w.adopt(m.inherited());
  frame& f = *m.task;
  pool_state* const counts = m.from_elsewhere ? &w.pool() : nullptr;
  tell::strand_begins(w, strand_kind::moved_task, f.resume_function, &f);
  if (f.arena != nullptr) {
    w.arena.attach(f.arena);
  } else {
    w.arena.epoch = f.steals();
  }
  run_strand(w, f);
  if (counts != nullptr) [[unlikely]]
    counts->pending.finished();
}

// Somebody has called ready. This worker owns the task, which has brought what it needs.
void run_waiting_task(resumable& r, worker& w) noexcept {
  auto& t = static_cast<waiting_task&>(r);
  w.adopt(t.inherited());
  frame& f = waiting_task_access::task(t);
  tell::strand_begins(w, strand_kind::moved_task, f.resume_function, &f);
  held_mutexes const mutexes{*w.here};
  w.begin_strand();
  loop(waiting_task_access::step(t, true) ? next{} : end_of_wait(t));
  mutexes.check(*current()->here, "a task, or its part before a co_await,");
}

}  // namespace nopal::core
