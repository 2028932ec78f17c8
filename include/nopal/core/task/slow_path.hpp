#pragma once

// A task on its way to another worker: resume_on. Until it is sent it belongs to the worker that the task leaves; then to the one that
// takes it out of its inbox. Below: the slow path, where the move is requested; and the loop, where it is sent and received.

#include <cstddef>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/task/frame.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct frame;
class worker;

/// Stored in the awaiting task's frame, so that sending it takes no memory.
struct move_request : inheriting {
  move_request() noexcept { next = nullptr; }  // it is moved before it is queued

  frame* task = nullptr;
  worker* to = nullptr;
  orphan_memory memory;         ///< for the task's ancestors, until it is sent
  bool from_elsewhere = false;  ///< from another pool: the one that it is sent to has it as pending until its strand there ends
};

// The slow path of a task's fork: a parent was stolen, a child has thrown, the arena is full or the stack low. Called by `w`, the worker
// that runs the strand. A function that returns a bool returns true if the task stays suspended: then its native callers return, one after
// the other, to the loop at the stack's base. Below: that loop.

class waiting_task;

/// A forked child of `p` has returned, and pop() could not take `p` back: p's entry was stolen, is public, or everything unwinds. Throws
/// only if that child could not start and `p` was never stolen in this scope: then what the start threw.
NOPAL_API NOPAL_COLD bool forked_returned(worker& w, frame* p);
/// A called child of `p` has returned, and the alarm is set: everything unwinds, the child has thrown, or an empty segment must be left.
NOPAL_API NOPAL_COLD bool called_returned(worker& w, frame* p) noexcept;
/// `p` is suspended at its join, after it was stolen or with an exception recorded. False: `p` continues here; if it must throw, its
/// await_resume learns that from must_throw(), or from its own state. True: its last child resumes it, and the caller must not touch `p`
/// again.
NOPAL_API NOPAL_COLD bool join_task(worker& w, frame* p) noexcept;
/// As join_task; but if `p` continues and must throw, throws that from here.
NOPAL_API NOPAL_COLD bool join_task_or_throw(worker& w, frame* p);
/// Throws the recorded exception of the task that was just resumed, and restores the alarm. Called from that task's await_resume, if
/// must_throw() is true, or by join_task_or_throw.
[[noreturn]] NOPAL_API NOPAL_COLD void rethrow_into_task(worker& w);
/// `p` is suspended with an error of its own: records `e` like a child's exception, and waits for p's children, as join_task.
NOPAL_API NOPAL_COLD bool fail_task(worker& w, frame* p, std::exception_ptr e) noexcept;
/// m.task is suspended, to be resumed by the worker m.to: the loop will send it there. Always returns true. Throws std::bad_alloc, and has
/// done nothing then.
NOPAL_API NOPAL_COLD bool move_task(worker& w, move_request& m);

/// The task `p` is suspended, to wait without a stack: the loop will enter `t` in a queue. Returns true, unless the strand may not be left,
/// or there is no memory for what its deque holds; then nothing has happened.
bool wait_without_stack(worker& w, waiting_task& t) noexcept;

/// Called before a fork that polls offers its parent. Throws std::bad_alloc, and has done nothing then.
NOPAL_API NOPAL_COLD void prepare_to_offer(worker& w);
/// Called before a child's start is deferred: makes room in the deque for what the loop will nest. Throws std::bad_alloc.
NOPAL_API NOPAL_COLD void prepare_to_defer(worker& w);
/// The child is stored in `d`: every native frame unwinds to the loop, which starts it.
NOPAL_API NOPAL_COLD void defer_start(worker& w, deferred_start* d) noexcept;

/// An exception left a child's body: keeps std::current_exception() for the child's parent. Called while it is handled.
NOPAL_API NOPAL_COLD void child_threw(worker& w) noexcept;
/// An exception left a child's start, so that the child has not begun: keeps std::current_exception() for its parent. Called while it is
/// handled.
NOPAL_API NOPAL_COLD void start_threw(worker& w) noexcept;

/// `n` bytes for a task's frame in a new segment of the arena. Sets the alarm, so that the segment will be left. Throws std::bad_alloc.
/// Ends the program on a thread that works for no pool, or if no parent was stored for the task.
NOPAL_API NOPAL_COLD void* grow_arena(fork_state& here, std::size_t n);
/// `n` bytes in the arena for something other than a task's frame, by the task `of`. The caller frees them by arena.release and arena.tidy.
/// Throws std::bad_alloc.
NOPAL_API NOPAL_COLD void* allocate_in_body(worker& w, std::size_t n, frame const& of);

/// Ends the program: a task's function was called as an ordinary one.
[[noreturn]] NOPAL_API NOPAL_COLD void die_called_directly() noexcept;
/// Ends the program: a task ends with children not joined. `e`: the exception that it ends by, or null.
[[noreturn]] NOPAL_API NOPAL_COLD void die_unjoined(std::exception_ptr e) noexcept;

// ---- Between the slow path and the loop.

/// A child of `p`, which the caller owns, has left strand.exception: records it, so that p's next join throws.
void child_failed(worker& w, frame* p) noexcept;
/// Records strand.exception, of a child that `p` forked after `epoch` steals. The caller need not own `p`.
void keep_exception(worker& w, frame* p, std::uint64_t epoch) noexcept;
/// `p` is about to be resumed and must throw. Sets the alarm to 0, from which an await_resume without a state of its own learns that.
void must_throw_into(worker& w, frame* p) noexcept;

/// The scope of `f` is complete, and the calling worker is about to resume it on its empty arena: attaches the arena that holds `f`, and
/// closes the scope.
void take_over(worker& w, frame& f) noexcept;

// The loop at the base of a strand: it runs a task, and then what the end of that task makes ready, until the strand has nothing left. Only
// here do children that lost their parent arrive at its join, are suspended tasks resumed, moves sent and deferred children started, after
// all native frames of the strand have returned. Called by the worker that begins the strand; each function may return on another worker.
// README.md, "Invariants". Next: scheduler/search.hpp, from which a worker calls these, and to which they return.

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
