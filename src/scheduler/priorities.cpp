#include "nopal/core/scheduler/priorities.hpp"

#include <chrono>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core
