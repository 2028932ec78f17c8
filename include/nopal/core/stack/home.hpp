#pragma once

// Stacks that stay: a native stack is resumed only by the thread that left it. While it waits at a join, the thread does not leave it at
// all, and runs on top of it what descends from the join. For frames of other libraries that keep something of their thread. Called by
// waiters. What it promises, why nothing stands still, and what it costs: stays.md. Next: top_wait.hpp, the word between the two sides of
// such a wait, and what descends from a join.

#include <cstdint>
#include <type_traits>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/top_wait.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if a wait of the strand on `w` keeps the thread on its stack. `join`: the join word or the job that is waited for; null: something
/// else, and it is unknown what will end the wait. In a pool whose stacks all stay, fibers wait for each other by such waits, and the
/// thread leaves them, unless frames below wait on this stack. Only if other workers can run what it waits for: not under a controlled
/// schedule, where one worker runs at a time. By that worker.
inline bool waits_on_top(worker const& w, void const* join) noexcept {
  pool_state const& p = w.pool();
  bool const must = w.here->stays != 0 || w.here->on_top != 0 || (join != nullptr && p.resume == resume::home);
  return must && p.steals && p.workers.size() > 1 && !p.takes_turns;
}

/// Waits on the stack on which the caller runs, where waits_on_top, until `t` has happened. publish(with, t) makes `t` known to the thread
/// that will resume it; it returns false if what is waited for has happened already, and `t` is known to none. During the wait the thread
/// runs, on top of the stack, what descends from `join` and other workers offer; or sleeps. It leaves the stack, and resumes it later, if
/// it must run anything, because no other worker would, or something that only it may run; until then it still runs nothing else
/// (search_state::left). `why` is for reports. By a worker; the same thread continues afterwards.
NOPAL_COLD void wait_on_top(waits_for const& why, void const* join, bool (*publish)(void* with, top_wait& t) noexcept, void* with) noexcept;
template <class Publish>
void wait_on_top(waits_for const& why, void const* join, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, top_wait&>);
  wait_on_top(why, join, [](void* with, top_wait& t) noexcept { return (*static_cast<Publish*>(with))(t); }, &publish);
}

/// A yield on a stack where waits_on_top: sleeps for a moment; or leaves the stack, for what only this thread may run, or for anything if
/// all other workers wait like this. The thread resumes the stack then. By a worker.
NOPAL_COLD void yield_on_top(waits_for const& why) noexcept;
/// Takes something that another worker offers, in `in`, and that descends from `join`; 0: nothing was found. `stacks`: also a stack that
/// was left at a scope's fork. By the worker, which runs it.
NOPAL_COLD deque::entry steal_below(worker& w, void const* join, bool stacks, strand_context& in) noexcept;
/// True if the thread, which has left a stack on top of which it should wait, has run only its own work for long. By that thread.
bool is_stalled(worker& w) noexcept;
/// True if all other threads sleep, doze, or run only their own work. A hint. O(workers).
bool others_are_stalled(worker const& w) noexcept;
/// Sleeps for at most so many nanoseconds, until `t` has happened or something has come that only this worker's thread may run. False: all
/// others sleep like this. Then the thread must run anything until `t` has happened, since no other would.
NOPAL_COLD bool doze(worker& w, top_wait& t, std::int64_t nanoseconds) noexcept;

// The order in which a thread resumes the stacks that it has left inside nopal::stay: the newest first. A library whose frames are on them
// may keep a record for each thread, which its calls enter and leave like a call stack. Called by suspension.hpp and by what is above. Why
// nothing stands still: stays.md, "The order".

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
