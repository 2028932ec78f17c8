#pragma once

// The order in which a thread resumes the stacks that it has left inside nopal::stay: the newest first. A library whose frames are on them
// may keep a record for each thread, which its calls enter and leave like a call stack. Called by suspension.hpp and home.hpp. Why nothing
// stands still: stays.md, "The order".

#include <cstdint>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if what runs on `w` now must keep the order when it is left. By that worker. Under a controlled schedule, which has no time, no
/// stack must.
inline bool keeps_order(worker const& w) noexcept { return w.here->stays != 0 && !w.pool().takes_turns; }
/// The thread is about to leave `s`, which keeps the order.
NOPAL_COLD void left_in_order(worker& w, stack& s) noexcept;
/// The thread runs `s` again.
NOPAL_COLD void resumed_in_order(worker& w, stack& s) noexcept;
/// What `s` has waited for has happened. `s` keeps the order: it waits for its turn. By its thread.
NOPAL_COLD void await_turn(stack& s) noexcept;
/// True if a stack that the thread has left waits for its turn. By that thread. O(stacks that it has left).
inline bool some_await_turn(worker const& w) noexcept {
  for (stack const* s = w.search.left_in_order; s != nullptr; s = s->left_before) {
    if (s->awaits_turn) return true;
  }
  return false;
}
/// Nanoseconds that the thread may sleep at a wait that is no join, until it is called. By that thread.
inline std::int64_t longest_sleep(worker const& w) noexcept {
  return some_await_turn(w) ? tuning::longest_doze : tuning::doze_until_called;
}
/// The stack whose turn it is, and which the caller resumes; null: none. It is the one that was left last, if the thread runs none that
/// keeps the order; or the newest that has waited too long for its turn. `here`: what the stack waits for on which the thread runs; null:
/// it does not wait. By that thread. O(stacks that it has left).
NOPAL_COLD stack* next_in_order(worker& w, waits_for const* here) noexcept;

}  // namespace nopal::core
