// A strand that makes way for what is due, and the poll, at which it does so.

#include "nopal/core/scheduler/interruption.hpp"

#include <new>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/give_away.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/waiting_stack.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The caller's strand has offered entries, which thieves may still take: they go into the ring, in the order of the deque, and the stack on
// top of them. So the worker resumes this stack as soon as what is due has ended or waits again, and then takes the newest fork first, as
// it would have.
void put_aside(worker& w) noexcept {
  waits_for const why{"its turn, since a time limit of another stack has expired", nullptr};
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
