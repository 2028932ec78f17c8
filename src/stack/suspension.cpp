// Leaving a native stack at a wait, resuming it, and bringing it home; what becomes of the deque's entries then. First: the memory for
// those that are tasks.

#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stack/orphan_memory.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Memory for orphaned continuations.

// The owner of the deque may have to leave it. Thieves may take entries at the same time: then there is more memory than is needed.
bool orphan_memory::get(deque const& d) noexcept {
  deque::index wanted = 0;
  for (deque::index i = d.oldest(); i < d.bottom(); ++i) {
    if (continuation{d.at(i)}.is_frame()) ++wanted;
  }
  for (; count_ < wanted; ++count_) {
    void* const p = ::operator new(sizeof(orphaned_continuation), std::nothrow);
    if (p == nullptr) return false;
    auto* const r = ::new (p) resumable;
    r->next = std::exchange(first_, r);
  }
  return true;
}

void orphan_memory::clear() noexcept {
  while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next));
  count_ = 0;
}

// Suspending and resuming native stacks. Next on the path: context.cpp, the switch.

// A worker has left its stack and runs on the next one: the stack that was left is wholly saved, and no thread runs it. Reports see from
// now on that it waits. Its pages are given back before it is published: afterwards another worker may run it.
static void publish_left_stack(after_switch& a) noexcept {
  auto& s = static_cast<suspension&>(a);
  stack& left = *s.left;
  left.begins_to_wait(s.why, coarse_now());
  if (s.reclaims) current()->pool().stacks.give_back_below(left, left.sp);
  tell::may_come_later(*current(), &left);
  tell::must_come_in_order(*current());
  if (s.publish(s)) resume_stack(left);
}

template <ending End>
NOPAL_INLINE static void leave_for(suspension& s, stack& next) noexcept {
  worker& w = *current();
  w.busy_with.store(nullptr, std::memory_order_relaxed);  // relaxed: a hint
  w.forget_joins();
  w.here = &next;
  switch_to<End>(*s.left, next, &s);
}

// The worker `w` is about to leave its stack at a wait, and has nothing in its deque.
NOPAL_INLINE static void begin_to_leave(worker& w, suspension& s) noexcept {
  w.count.add(counted::suspensions);
  w.count.add(counted::switches);
  w.retract_offers();
  s.left = w.here;
  s.left->body = nullptr;  // its body cannot return: the worker that resumes this stack is not where run_from was called
  s.left->is_high = w.region != no_region && priority_in(w.region) == priority::high;
  s.run = publish_left_stack;
}

[[noreturn]] NOPAL_COLD static void die_resumed_twice() noexcept {
  die("a native stack that was given back was resumed; this is a fault of nopal, or memory was overwritten");
}

// The worker `w` is about to resume `s`, on which it was not.
NOPAL_INLINE static void begin_to_resume(worker& w, stack& s) noexcept {
  if (s.sp == nullptr) [[unlikely]]  // x86-64: it was left for good
    die_resumed_twice();
  assert(w.work.empty());  // so what the frames on `s` have offered is not here: their pops fail
  w.work.rewind();
  w.count.add(counted::switches);
  tell::strand_resumes(w, s);
  s.begins_to_run();
}

// Leaves the stack for `next`, after begin_to_leave. Returns once a worker has resumed it, with what the strand had saved. Inlined: one more
// return behind the switch, which the processor predicts wrongly, would make a wait 7 % dearer (10 ns, 2026-11-25).
template <ending End>
NOPAL_INLINE static void leave_until_resumed(worker& w, suspension& s, stack& next) noexcept {
  pause_in_profile const measured;
  void const* const near = w.near.get();
  void const* const far = w.far.get();
  region_id const region = w.region;
  fiber_values* const values = w.values;
  if (w.alarm == worker::no_tasks) {
    job* const busy = w.busy_with.load(std::memory_order_relaxed);  // relaxed: a hint
    leave_for<End>(s, next);
    current()->begin_job();
    current()->busy_with.store(busy, std::memory_order_relaxed);
  } else {
    saved_strand const strand{w};
    leave_for<End>(s, next);
  }
  current()->descends_from(near, far);
  current()->region = region;
  current()->values = values;
}

// The strand on this stack must wait. Thieves may be at the deque until it is given away; nothing can fail after that. Until the stack is
// published no other worker knows of it. When suspend returns true the worker may be another one: its deque is empty, and so was its arena.
bool suspend(suspension& s) noexcept {
  worker& w = *current();
  bool const stack_stays = w.stack_stays();
  int const error_number = stack_stays ? errno : 0;
  if (!w.work.empty() && !w.orphans.get(w.work)) return false;
  stack* const next = w.stacks.get();
  if (next == nullptr) return false;
  tell::strand_leaves(w, s.why);
  give_everything_away(w, w.orphans);
  begin_to_leave(w, s);
  next->begin(w.pool().call.search);
  if (stack_stays) s.left->home = w.index();
  if (stack_stays && keeps_order(w)) left_in_order(w, *s.left);
  leave_until_resumed<ending::second_jump>(w, s, *next);  // which is fresh: the jump always leads to the beginning of one
  if (stack_stays) [[unlikely]] {
    s.left->home = stack::anywhere;
    if (s.left->in_order) resumed_in_order(*current(), *s.left);
    errno = error_number;  // on the thread that has left the stack
  }
  return true;
}

void suspend_for(suspension& s, stack& next) noexcept {
  worker& w = *current();
  assert(w.work.empty() && !w.stack_stays() && w.alarm == worker::no_tasks);
  tell::strand_leaves(w, s.why);
  begin_to_leave(w, s);
  begin_to_resume(w, next);
  leave_until_resumed<ending::as_return>(w, s, next);
}

// What `s` waited for has happened, and this worker owns `s`: no other worker knows of it any more. The stack that is left is put into the
// cache from the other side, where no thread runs it.
void resume_stack(stack& s) noexcept {
  worker& w = *current();
  begin_to_resume(w, s);
  stack& mine = *std::exchange(w.here, &s);
  mine.leave(s, [](stack& free) noexcept { current()->stacks.put_left(free); });
  die_resumed_twice();
}

void run_left_stack(resumable& r, worker& w) noexcept {
  auto& s = static_cast<stack&>(r);
  s.stolen = true;
  w.values = s.values;
  w.region = s.runs_in.region;  // nothing changes it before the parent's function continues
  resume_stack(s);
}

static void run_on_its_way(resumable& r, worker&) noexcept {
  stack& s = *static_cast<struct stack::on_its_way&>(r).it;
  if (s.in_order) return await_turn(s);
  resume_stack(s);
}

bool only_awaits_turn(resumable const& r) noexcept {
  return r.run == run_on_its_way && static_cast<struct stack::on_its_way const&>(r).it->in_order;
}

// Its thread may resume the stack as soon as it is pushed.
void bring_home(pool_state& p, stack& s) noexcept {
  unsigned const home = s.home;
  s.on_its_way.it = &s;
  s.on_its_way.run = run_on_its_way;
  if (!s.in_order && p.call.take_if_due(p, s.on_its_way, home, true)) return;
  worker& to = *p.workers[home];
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all workers of a pool are there
  if (current_or_null() == &to && !to.occupant.here) return to.add_own(s.on_its_way);
  to.own.push(&s.on_its_way);
  p.parking.call(home);
  p.naps.end();  // its thread may be the one that naps
  tell::something_new(p);
}

void resume_after_top(worker& w, stack& s) noexcept {
  s.on_its_way.it = &s;
  s.on_its_way.run = run_on_its_way;
  w.add_own(s.on_its_way);
}

// On top of a stack that waits, no other stack can be resumed: the thread leaves it first.
void resume_at_home(stack& s) noexcept {
  worker& w = *current();
  bool const may_leave = w.here->on_top == 0;
  if (s.home != stack::anywhere) {
    if (may_leave && s.home == w.index() && !w.occupant.here && !s.in_order) resume_stack(s);
    return bring_home(w.pool(), s);
  }
  if (may_leave) resume_stack(s);
  resume_after_top(w, s);
}

// The pool ends, or an external caller vacates its worker.
void leave_for_thread(stack& mine) noexcept {
  mine.leave(*current()->began_on, [](stack& free) noexcept { current()->stacks.put(&free); });
  die_resumed_twice();
}

// The owner empties a deque that it leaves.

// A worker has taken an orphaned continuation from an inbox or a ring, and owns the task now.
static void run_orphan(resumable& r, worker& w) noexcept {
  auto* const o = static_cast<orphaned_continuation*>(&r);
  frame& task = *o->what;
  strand_context const in = o->inherited();
  delete o;
  w.pool().call.run_stolen_task(w, task, in);
}

// The owner is about to leave the strand. Thieves may take entries at the same time. The owner takes the oldest as they do, so that
// invariant 1 holds: a strand that has lost an entry has lost all older ones.
template <class Put>
static void empty_deque(worker& w, orphan_memory& memory, Put put) noexcept {
  w.work.publish_all();  // else steal would wait for this worker to answer its request, and then take by force
  while (!w.work.empty()) {
    strand_context in;
    deque::entry const e = w.work.steal(&in);
    if (e == 0) continue;
    continuation const c{e};
    if (!c.is_frame()) {
      c.as_inheriting()->inherit(in);
      put(*c.as_resumable());
    } else {
      orphaned_continuation& o = memory.take(c.as_frame());
      o.run = run_orphan;
      o.inherit(in);
      put(o);
    }
  }
  memory.clear();  // for the entries that thieves took
  w.work.rewind();
}

void give_everything_away(worker& w, orphan_memory& memory) noexcept {
  empty_deque(w, memory, [&](resumable& r) noexcept { inject(w.pool(), r, w.index()); });
}

bool move_to_ring(worker& w) {
  if (w.work.empty()) return true;
  if (!w.orphans.get(w.work)) return false;
  w.ready.ensure_room(w.work.bottom() - w.work.oldest() + 1);  // one more, for the stack itself
  empty_deque(w, w.orphans, [&](resumable& r) noexcept { w.make_ready(r); });
  return true;
}

}  // namespace nopal::core
