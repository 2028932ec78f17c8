#pragma once

// The loop at the base of a strand: it runs a task, and then what the end of that task makes ready, until the strand has nothing left. Only
// here do children that lost their parent arrive at its join, are suspended tasks resumed, moves sent and deferred children started, after
// all native frames of the strand have returned. Called by the worker that begins the strand; each function may return on another worker.
// README.md, "Invariants". Next: scheduler/search.hpp, from which a worker calls these, and to which they return.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/frame.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct job;

/// Runs a job from its start until this worker has nothing left of it. Before and after, the arena is empty and no entry of the deque is
/// private; afterwards that holds for the worker that then runs the caller, maybe another one.
void run_job(worker& w, job& r) noexcept;
/// Runs a job that was taken out of an inbox: its resumable::run.
void run_injected_job(resumable& r, worker& w) noexcept;

/// Resumes a task that `w`, the thief, has taken out of another worker's deque, or found among orphaned continuations, in the context in
/// which it was offered.
void run_stolen_task(worker& w, frame& f, strand_context const& in) noexcept;

/// Resumes a task that another worker has sent, with its arena, to `w`: resumable::run of a move_request.
void run_moved_task(resumable& r, worker& w) noexcept;

/// Resumes a task that has waited without a stack: resumable::run of a waiting_task.
void run_waiting_task(resumable& r, worker& w) noexcept;

}  // namespace nopal::core
