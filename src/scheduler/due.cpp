// A strand that makes way for what is due, and the poll, at which it does so.

#include "nopal/core/scheduler/due.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// By the timer's thread, later. A request that came while its worker changed its own limit is lost, and a thief that was to find what is
// due may have found something else. So a worker that has not looked is asked again, less often each time.
void ask_again(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  pool.asks_for_due.store(false, std::memory_order_seq_cst);  // before it looks: see ask_for_due
  bool any = false;
  for (worker* const w : pool.workers) {
    if (!w->has_stack_due()) continue;
    w->work.request();
    any = true;
  }
  if (!any) {
    pool.ask_again_after = std::chrono::nanoseconds{tuning::between_requests};
    return;
  }
  pool.ask_again_after = std::min(2 * pool.ask_again_after, std::chrono::nanoseconds{tuning::longest_between_requests});
  pool.asks_for_due.store(true, std::memory_order_seq_cst);
  static_cast<void>(pool.timer.call_after(timer::later::due, pool.ask_again_after, ask_again, &pool));
}

// By the timer's thread, under its mutex.
void ask_later(pool_state& pool) noexcept {
  pool.asks_for_due.store(true, std::memory_order_seq_cst);
  pool.ask_again_after = std::chrono::nanoseconds{tuning::between_requests};
  pool.timer.call_after_here(timer::later::due, pool.ask_again_after, ask_again, &pool);
}

void inject_due(pool_state& pool, resumable& r, unsigned i) noexcept {
  worker& left_by = *pool.workers[i];
  if (pool.steals) pool.parking.add();  // before the push, as in inject
  left_by.queues->due.push(r);
  pool.naps.end();  // a worker's thread may nap while another thread is in the event source
  if (pool.steals) {
    pool.parking.announce(i);
    if (!pool.parking.somebody_searches()) {
      for (worker* const w : pool.workers) w->work.request();
    }
  } else if (!pool.parking.notify(i)) {
    left_by.work.request();
  }
  tell::something_new(pool);
}

void bring_home_due(pool_state& pool, resumable& r, unsigned i) noexcept {
  worker& to = *pool.workers[i];
  to.due_own.push(r);
  pool.parking.call(i);
  pool.naps.end();  // its thread may be the one that naps
  to.work.request();
  tell::something_new(pool);
}

// Worker `w` looks for events, and has found one of a stack that `left_by` has left. Where that is another worker, the timer is to ask it
// again; where it is `w`, that runs what is due as soon as it has looked, and the timer is to ask for what comes behind.
void found_event(worker& w, resumable& r, unsigned left_by, bool home) noexcept {
  if (w.index() != left_by) {
    w.search.leaves_due = true;
    return home ? bring_home_due(w.pool(), r, left_by) : inject_due(w.pool(), r, left_by);
  }
  if (w.has_stack_due()) w.search.leaves_due = true;
  (home ? w.due_own : w.queues->due).push(r);
}

}  // namespace

// seq_cst: what is due was pushed before, and ask_again clears the flag before it looks at the queues. So it sees that, or this sees the flag
// cleared.
void ask_for_due(pool_state& pool) noexcept {
  if (pool.asks_for_due.exchange(true, std::memory_order_seq_cst)) return;
  constexpr std::chrono::nanoseconds first{tuning::between_requests};
  if (!pool.timer.call_after(timer::later::due, first, ask_again, &pool)) pool.asks_for_due.store(false, std::memory_order_seq_cst);
}

bool is_anything_due(worker const& w) noexcept { return w.has_stack_due() || !w.queues->high.looks_empty(); }

bool take_if_due(pool_state& pool, resumable& r, unsigned left_by, bool home) noexcept {
  if (pool.timer.is_here()) {
    home ? bring_home_due(pool, r, left_by) : inject_due(pool, r, left_by);
    ask_later(pool);
    return true;
  }
  worker* const w = current_or_null();
  if (w == nullptr || &w->pool() != &pool || !w->search.looks_for_events) return false;
  found_event(*w, r, left_by, home);
  return true;
}

namespace {

// The caller's strand has offered entries, which thieves may still take: they go into the ring, in the order of the deque, and the stack on
// top of them. So the worker resumes this stack as soon as what is due has ended or waits again, and then takes the newest fork first, as
// it would have.
void put_aside(worker& w) noexcept {
  waits_for const why{"its turn, since a time limit of another stack has expired, or work of high priority has come", nullptr};
  if (waits_on_top(w, nullptr)) {
    if (!w.due_own.looks_empty()) yield_on_top(why);
    return;
  }
  try {
    if (!move_to_ring(w)) return;
    w.make_room_for_ready();
  } catch (std::bad_alloc const&) {
    return;
  }
  waiting_stack me;
  me.pool = &w.pool();
  me.worker = w.index();
  me.what = w.here;
  bool const left = suspend(why, false, [&](stack&) noexcept {
    me.resume_first();
    return false;
  });
  if (left) current()->next_interruption = std_sync::now() + tuning::between_interruptions;
}

NOPAL_COLD void run_due(worker& w) noexcept {
  if (!w.has_stack_due() && priority_in(w.region) == priority::high) return;   // work of high priority does not interrupt its like
  if (!w.pool().takes_turns && std_sync::now() < w.next_interruption) return;  // under a controlled schedule no clock decides
  // A thread that has left a stack on top of which it should wait runs only its own work and what descends from that wait: stays.md of
  // ../stack. It does not look into the ring.
  if (w.search.left == nullptr || (w.stack_stays() && !w.due_own.looks_empty())) put_aside(w);
}

}  // namespace

void let_due_run() noexcept {
  worker& w = *current();
  if (is_anything_due(w)) [[unlikely]]
    run_due(w);
}

// What is due runs first, while the strand's offers are where thieves find them. Then this strand continues, maybe on another worker.
bool worker::poll() noexcept {
  let_due_run();
  return current()->offer_what_was_requested();
}

}  // namespace nopal::core
