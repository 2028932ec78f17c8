#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/completion.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Waiting.

void stack_waits::start(timer_entry& e) noexcept { e.start(); }

// The awaited condition does not hold yet. As soon as publish has made `me` known, a waker may wake it, and another worker may resume this
// stack before publish has returned. On return `me` was woken, or was never published.
void await_wake(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    me.thread = nullptr;  // it may have waited before, as a thread
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    me.on_top = nullptr;
    if (waits_on_top(*w, nullptr)) {
      return wait_on_top(why, nullptr, [&](top_wait& t) noexcept {
        me.on_top = &t;
        return publish(with);
      });
    }
    if (suspend(why, false, [=](stack&) noexcept { return !publish(with); })) return;
    // There is no memory for another stack. The worker waits where it is; wait_on_worker suspends this stack once there is memory.
    event done;
    me.thread = &done;
    if (publish(with)) wait_on_worker(*current(), done, why);
    return;
  }
  sleeping_thread const listed{why};
  thread_awaits_wake(me, [=]() noexcept { return publish(with); });
}

// The awaited condition does not hold yet. The timer, or a request to stop, may wake `me` as soon as publish starts the entry. The entry's
// end takes the locks of both once more: afterwards neither accesses `me`.
bool await_wake_until(waiter& me, waits_for why, time_point deadline, bool (*publish)(void* with, timer_entry* entry) noexcept,
                      void* with) {
  stop_region* const region = region_of_wait();
  region_deadline const of_region{region};
  deadline = std::min(deadline_here(deadline), of_region.here());
  if (deadline != time_point::max()) why.limit = nanoseconds_of(deadline);
  if (worker* const w = current_or_null(); w != nullptr) {
    timer_entry entry{deadline != time_point::max() ? &w->pool().timer : nullptr, me, deadline, region};
    await_wake(me, why, [&]() noexcept { return publish(with, &entry); });
    if (entry.expired()) of_region.passed(deadline);
    return !entry.expired();
  }
  sleeping_thread const listed{why};
  if (region == nullptr) return thread_awaits_wake_until(me, deadline, [=]() noexcept { return publish(with, nullptr); });
  timer_entry entry{nullptr, me, deadline, region};
  return thread_awaits_wake_until(me, deadline, [&]() noexcept { return publish(with, &entry); }) && !entry.expired();
}

bool sleep_through(time_point until, waits_for why) noexcept try {
  why.limit = nanoseconds_of(until);
  waiter me;
  timer_entry entry{&current()->pool().timer, me, until, nullptr};
  await_wake(me, why, [&]() noexcept {
    entry.start();
    return true;
  });
  return true;
} catch (std::exception const&) {
  return false;
}

// ---- Letting others run first.

namespace {

// Nothing waits for this worker but what its open inbox holds, and no observer says who is next.
bool has_inbox_only(worker const& w) noexcept {
  return !some_await_turn(w) && w.observed == nullptr && w.pool().steals && w.alarm == worker::no_tasks && !w.occupant.here &&
         !w.stack_stays() && !w.waits_on_top() && w.work.empty() && w.ready.empty() && w.own.empty() && w.search.own == nullptr &&
         w.queues->empty() && w.due_own.empty();
}

// The oldest of the inbox is next. If that is a stack that waits, this thread switches to it at once, and the yielding stack takes its place
// in the inbox. True: it was, and has come back. False: nothing has happened, or what is next is the newest of the ring now.
bool change_places(worker& w, waiting_stack& me, waits_for const& why) noexcept {
  resumable* const oldest = take_oldest_job(w);
  if (oldest == nullptr) return false;
  stack* const next = waiting_stack::resumed_by(*oldest);
  if (next == nullptr) {
    try {
      w.make_room_for_ready();
      w.make_ready(*oldest);
      w.pool().parking.retract();  // the ring counts it now
    } catch (std::bad_alloc const&) {
      w.open.push(oldest);
    }
    return false;
  }
  suspend_for(why, *next, [&](stack&) noexcept {
    me.resume_in_place_of_taken(*current());
    return false;
  });
  return true;
}

}  // namespace

bool yield_stack() noexcept {
  worker* const w = current_or_null();
  if (w == nullptr) return false;
  tell::makes_way(*w);
  waits_for const why{"its turn, after a yield", nullptr};
  if (waits_on_top(*w, nullptr)) {
    yield_on_top(why);
    return true;
  }
  bool const makes_way = w->pool().limit != nullptr && must_give_permit(*w);
  if (!makes_way && !w->has_more() && !some_await_turn(*w)) return true;
  waiting_stack me;
  me.pool = &w->pool();
  me.worker = w->index();
  me.what = w->here;
  if (!makes_way && has_inbox_only(*w) && change_places(*w, me, why)) return true;
  // If the next turn were an inbox's, this stack, soon alone there, would continue before what is ready; so the turns begin anew. If an
  // inbox has something already, its turn stays: so strands that yield, and what they begin, never hold up what comes from outside. After
  // an inbox's turn comes that of the oldest, which stays, too.
  if (w->open.empty() && w->own.empty() && w->search.ready_taken / tuning::fairness % 2 == 0) w->search.ready_taken = 0;
  static_cast<void>(suspend(why, false, [&](stack&) noexcept {  // without memory the caller continues
    me.resume_later();
    return false;
  }));
  return true;
}

// ---- Waiting for one of several.

bool watcher::wait(time_point deadline, char const* what) {
  if (deadline != time_point::max() || wait_may_end_early()) return wait_until(deadline, what);
  basic_watcher::wait(what);
  return true;
}

// ---- The end of a job.

void completion::set() noexcept {
  in_order();
  for_threads_.set();
  if (!for_stacks_.done_if_quiet(1)) for_stacks_.done_slowly(1);
}

void completion::wait() {
  in_order();
  if (is_set()) return;
  if (wait_may_end_early()) [[unlikely]] {
    // Also on a thread that works for no pool, since the event knows no request. The setter keeps the completion alive until set has
    // returned.
    if (!for_stacks_.wait_until(0, time_point::max(), "a future", wait_kind::nothing_more)) throw_stopped();
    return;
  }
  if (current_or_null() == nullptr) return sleep_until_set(for_threads_, {"a future", this});
  for_stacks_.wait(0, "a future", wait_kind::nothing_more);
}

bool completion::wait_until(time_point deadline) {
  in_order();
  auto now = now_by(deadline);
  if (is_set() || deadline <= now) return is_set();  // a caller that only tests needs no timer entry, and no exception
  if (current_or_null() != nullptr || wait_may_end_early()) {
    bool const in_time = for_stacks_.wait_until(0, deadline, "a future, with a time limit", wait_kind::nothing_more);
    if (!in_time) throw_if_wait_was_stopped();
    return in_time;
  }
  sleeping_thread const listed{{"a future, with a time limit", this, wait_kind::nothing_more, 0, nanoseconds_of(deadline)}};
  for (; now < deadline; now = std::chrono::steady_clock::now()) {
    if (for_threads_.wait_for(std::chrono::nanoseconds{deadline - now}.count())) return true;
  }
  return is_set();
}

void throw_empty_future(char const* what) {
  throw std::logic_error{std::string{"nopal: "} + what +
                         " on an empty future: its result was taken by get() or co_await, it was moved from, or it never had a job. Take "
                         "the result once and keep it, move on the future that pool::submit returns, or ask valid() first"};
}

}  // namespace nopal::core
