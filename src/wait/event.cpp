#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stack/top_wait.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Stacks and threads that wait for an event.

static void run_waiting_stack(resumable& r, worker&) noexcept { resume_stack(*static_cast<waiting_stack&>(r).what); }

// The worker that gets a stack. If nothing is stolen, the stack stays with the worker that left it.
static unsigned choose_for(pool_state& p, unsigned left_by) noexcept { return p.steals ? choose_worker(p) : left_by; }

// The caller comes from outside the pool, and counts as pending work.
static void give_from_outside(pool_state& p, resumable& r, unsigned left_by, bool is_high) noexcept {
  if (p.call.take_if_due(p, r, left_by, false)) return;
  unsigned const i = choose_for(p, left_by);
  is_high ? p.call.give_high(p, r, i) : inject(p, r, i);
}

// The caller works for the pool, as `w`.
static void give_from_inside(worker& w, resumable& r, unsigned left_by, bool is_high) noexcept {
  pool_state& p = w.pool();
  if (is_high) [[unlikely]]
    return p.call.give_high(p, r, choose_for(p, left_by));
  if (p.steals) {
    try {
      w.make_room_for_ready();
      return w.make_ready(r);
    } catch (std::bad_alloc const&) {
      // the ring is full and cannot grow: the inbox needs no memory
    }
  } else if (p.call.take_if_due(p, r, left_by, false)) {
    return;
  }
  inject(p, r, choose_for(p, left_by));
}

void waiting_stack::resume() noexcept {
  if (told != nullptr) return told(*this);
  if (on_top != nullptr) return on_top->resume();
  run = run_waiting_stack;
  pool_state& p = *pool;
  unsigned const left_by = worker;
  core::worker* const w = current_or_null();
  if (w == nullptr || &w->pool() != &p) {
    // The caller comes from outside the pool. The resumed stack may be the last that the pool has to run, and the pool's destructor would
    // not wait for this thread, which still uses the pool: so it counts as pending work.
    p.pending.started();
    what->home != stack::anywhere ? bring_home(p, *what) : give_from_outside(p, *this, left_by, what->is_high);
    return p.pending.finished();
  }
  if (what->home != stack::anywhere) return bring_home(p, *what);
  if (for_job && w->waits_on_top()) return resume_after_top(*w, *what);
  give_from_inside(*w, *this, left_by, what->is_high);
}

void give_to_some_worker(pool_state& p, resumable& r, unsigned left_by, bool is_high) noexcept {
  if (core::worker* const w = current_or_null(); w != nullptr && &w->pool() == &p) return give_from_inside(*w, r, left_by, is_high);
  p.pending.started();  // as in waiting_stack::resume
  give_from_outside(p, r, left_by, is_high);
  p.pending.finished();
}

void waiting_stack::resume_later() noexcept {
  if (what->home != stack::anywhere) return bring_home(*pool, *what);
  run = run_waiting_stack;
  inject(*pool, *this, worker);
}

void waiting_stack::resume_first() noexcept {
  if (what->home != stack::anywhere) return bring_home(*pool, *what);
  run = run_waiting_stack;
  current()->make_ready(*this);
}

void waiting_stack::resume_in_place_of_taken(core::worker& w) noexcept {
  run = run_waiting_stack;
  w.open.push(this);
}

stack* waiting_stack::resumed_by(resumable& r) noexcept {
  return r.run == run_waiting_stack ? static_cast<waiting_stack&>(r).what : nullptr;
}

void event::set() noexcept {
  if (waiter_ == this_thread()) return set_by_waiter();
  basic_event::set();
}
bool event::await(waiting_stack& w) noexcept { return basic_event::await(w); }
void event::wait() noexcept { basic_event::wait(); }
bool event::wait_for(std::int64_t nanoseconds) noexcept { return basic_event::wait_for(nanoseconds); }

// ---- The list of threads that wait.

sleeping_thread::sleeping_thread(waits_for const& why) noexcept : sleeping_thread{why, this_thread(), true} {}
sleeping_thread::sleeping_thread(waits_for const& why, std::uintptr_t self) noexcept : sleeping_thread{why, self, false} {}

sleeping_thread::sleeping_thread(waits_for const& why, std::uintptr_t self, bool outside) noexcept
    : why_{why}, id_{static_cast<pid_t>(::syscall(SYS_gettid))}, self_{self}, outside_{outside}, since_{coarse_now()} {
  std::lock_guard const guard{mutex_};
  next_ = first_;
  if (first_ != nullptr) first_->before_ = this;
  first_ = this;
}

sleeping_thread::~sleeping_thread() {
  std::lock_guard const guard{mutex_};
  (before_ != nullptr ? before_->next_ : first_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
}

// ---- The wait for a job's end.

void wait_for_job(event& done, void const* job) noexcept {
  if (done.is_set()) return;
  worker* const w = current_or_null();
  if (w == nullptr) return sleep_until_set(done, {"a job", nullptr});
  wait_on_worker(*w, done, {"a job", nullptr, job != nullptr ? wait_kind::join : wait_kind::nothing_more}, job);
}

// The job has not ended. Without memory for another stack the worker sleeps on the event, and tries to suspend again every millisecond:
// what the job needs may need this very worker. On return the event is set.
void wait_on_worker(worker& w, event& done, waits_for why, void const* join) noexcept {
  waiting_stack me;
  me.pool = &w.pool();
  me.worker = w.index();
  me.what = w.here;
  me.for_job = join != nullptr;
  if (waits_on_top(w, join)) {
    return wait_on_top(why, join, [&](top_wait& t) noexcept {
      me.on_top = &t;
      return done.await(me);
    });
  }
  while (!suspend(why, true, [&](stack&) noexcept { return !done.await(me); })) {
    if (done.wait_for(tuning::wait_without_stack)) return;
  }
}

}  // namespace nopal::core
