#include "nopal/core/task/resume_loop.hpp"

#include <cstdint>
#include <utility>

#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/scheduler/job.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "observe/tell.hpp"
#include "task/waiting_task_access.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
  w.adopt(static_cast<move_request&>(r).inherited());
  frame& f = *static_cast<move_request&>(r).task;
  tell::strand_begins(w, strand_kind::moved_task, f.resume_function, &f);
  if (f.arena != nullptr) {
    w.arena.attach(f.arena);
  } else {
    w.arena.epoch = f.steals();
  }
  run_strand(w, f);
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
