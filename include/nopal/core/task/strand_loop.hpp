#pragma once

// The loop at the base of a native stack: it runs a task, and after it whatever the end of that task makes ready, until the strand has nothing
// left. Only here are tasks resumed, joins announced by children, moves sent and deferred children started: all native frames of the strand
// have returned by then. README.md, "Invariants". Next: scheduler/search.hpp, where a worker comes from and returns to.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/frame.hpp"

namespace nopal::core {

/// Runs a root from its start until this worker has nothing left of it. The arena is empty, and nothing in the deque is private: so they are
/// again afterwards, maybe on another worker.
void run_root(worker& w, root& r) noexcept;
/// The same for a root that waits in an inbox: resumable::run.
void run_injected_root(resumable& r, worker& w) noexcept;

/// Resumes a task that was stolen from its worker's deque, as the thief.
void run_stolen_task(worker& w, frame& f) noexcept;

/// Resumes a task that came from elsewhere with its arena: resumable::run of a move_request.
void run_moved_task(resumable& r, worker& w) noexcept;

}  // namespace nopal::core
