#pragma once

// The search for work, at the base of a native stack: what is due, the worker's ring, its inboxes, then what other workers have offered;
// and sleep, when there is nothing. By the worker's thread, or an external caller that occupies the worker. README.md, "Search". Next:
// sleep/parking.hpp, where the thread sleeps; machine/victim.hpp, which worker a thief tries; task/slow_path.hpp, which runs what was
// found.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The body of each fresh native stack, entry_points::search: calls search_on, then leaves the stack for the thread's own.
void search_for_work(context& stack) noexcept;
/// Searches at the base of `mine`, which runs here, and runs what it finds. Returns when the pool ends, or when an external caller works
/// here and must vacate the worker. What runs on top of this frame may suspend the stack, and another worker of this pool may resume it.
void search_on(stack& mine) noexcept;

/// Empties the open inbox of `w`, which runs here: returns the oldest that was there, which still counts as visible work, and puts the others
/// into its ring. Null: there was none. Thieves may be at both.
resumable* take_oldest_job(worker& w) noexcept;

/// True if others wait for the permit of `w`, which has had its slice, or searches: it makes way, at the base of a stack. The pool has a
/// limit. By the worker's thread.
bool must_give_permit(worker const& w) noexcept;

/// True if worker i must stay awake, as something waits for it or the pool ends. Any thread. seq_cst loads, after the thread's state has
/// been stored: they pair with the pushes to the inboxes and with the store of `stopping`, which come before a look at that state. The ring
/// needs no partner: only the thread itself fills it, or an external caller before the thread has the worker again.
bool must_stay_awake(pool_state const& pool, unsigned i) noexcept;

// Events from outside: a worker looks between two strands, and the timer's thread from time to time while no worker waits for them.
// ../sleep/README.md, "Events". Next: search_on, in which a sleeping worker waits for them.

struct pool_state;
class worker;

/// Looks into the pool's event source, which is there, if no other thread is in it. What it wakes is in the worker's ring; or, where only one
/// worker may run it, due. By a worker between two strands.
void look_at_events(worker& w) noexcept;
/// As above, where this worker has entered the source; leaves it.
void look_at_entered_events(worker& w) noexcept;
/// The timer's thread looks into the event source, from tuning::between_polls from now on, while no worker waits there. Called when the pool's
/// threads begin, and by a worker that has waited.
void look_at_events_later(pool_state& pool) noexcept;

}  // namespace nopal::core
