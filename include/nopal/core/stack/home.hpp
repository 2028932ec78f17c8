#pragma once

// Stacks that stay: a native stack is resumed only by the thread that left it. While it waits at a join, the thread does not leave it at
// all, and runs on top of it what descends from the join. For frames of other libraries that keep something of their thread. Called by
// waiters. What it promises, why nothing stands still, and what it costs: stays.md. Next: top_wait.hpp, the word
// between the two sides of such a wait; ../scheduler/descent.hpp, what descends from a join.

#include <type_traits>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/top_wait.hpp"
#include "nopal/core/wait/waits_for.hpp"

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

}  // namespace nopal::core
