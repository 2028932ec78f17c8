#pragma once

// The search for work, at the base of a native stack: what is due, the worker's ring, its inboxes, then what other workers have offered;
// and sleep, when there is nothing. By the worker's thread, or an external caller that occupies the worker. README.md, "Search". Next:
// sleep/parking.hpp, where the thread sleeps; machine/victim.hpp, which worker a thief tries; task/resume_loop.hpp, which runs what was
// found.

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

/// True if worker i must stay awake, as something waits for it or the pool ends. Any thread. seq_cst loads, after the thread's state has
/// been stored: they pair with the pushes to the inboxes and with the store of `stopping`, which come before a look at that state. The ring
/// needs no partner: only the thread itself fills it, or an external caller before the thread has the worker again.
bool must_stay_awake(pool_state const& pool, unsigned i) noexcept;

}  // namespace nopal::core
