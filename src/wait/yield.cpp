#include "nopal/core/wait/yield.hpp"

#include <new>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/reverse_order.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/event.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
  if (!w->has_more() && !some_await_turn(*w)) return true;
  waiting_stack me;
  me.pool = &w->pool();
  me.worker = w->index();
  me.what = w->here;
  if (has_inbox_only(*w) && change_places(*w, me, why)) return true;
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

}  // namespace nopal::core
