#pragma once

// The cold ends of a task's fork path: what happens where a parent was stolen, a child has thrown, the arena is full or the stack low. Each
// that returns a bool returns true where the task stays suspended and its native caller returns to the loop at the stack's base. Next:
// strand_loop.hpp, that loop.

#include <cstddef>
#include <exception>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/deferred_start.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/move_request.hpp"

namespace nopal::core {

/// A forked child of `p` returned and pop() said no. Throws only what belongs at this fork: a child that could not start.
NOPAL_API NOPAL_COLD bool forked_returned(worker& w, frame* p);
/// A called child of `p` returned, disturbed: the alarm says that something happened.
NOPAL_API NOPAL_COLD bool called_returned(worker& w, frame* p) noexcept;
/// `p` is suspended at its join after it was stolen, or has an exception waiting.
NOPAL_API NOPAL_COLD bool join_task(worker& w, frame* p) noexcept;
/// As join_task, and throws what is due if the task need not suspend.
NOPAL_API NOPAL_COLD bool join_task_or_throw(worker& w, frame* p);
/// Throws the exception that the task which was just resumed is to see. From its await_resume, and only after must_throw() has said yes.
[[noreturn]] NOPAL_API NOPAL_COLD void rethrow_into_task(worker& w);
/// `p` is suspended with an error of its own, which is thrown there once its children have ended.
NOPAL_API NOPAL_COLD bool fail_task(worker& w, frame* p, std::exception_ptr e) noexcept;
/// m.task is suspended and wants to be resumed by m.to. Throws std::bad_alloc, and has done nothing then.
NOPAL_API NOPAL_COLD bool move_task(worker& w, move_request& m);

/// Before a child's start is deferred: room in the deque for what the loop will nest. Throws std::bad_alloc.
NOPAL_API NOPAL_COLD void prepare_to_defer(worker& w);
/// The child waits in `d`; every native frame unwinds to the loop.
NOPAL_API NOPAL_COLD void defer_start(worker& w, deferred_start* d) noexcept;

/// An exception left a child's body: std::current_exception().
NOPAL_API NOPAL_COLD void child_threw(worker& w) noexcept;
/// An exception left a child's start, which has therefore not begun: std::current_exception().
NOPAL_API NOPAL_COLD void start_threw(worker& w) noexcept;

/// Memory for a task's frame in a new segment of the arena. Throws std::bad_alloc.
NOPAL_API NOPAL_COLD void* grow_arena(fork_state& here, std::size_t n);
/// Memory in the arena for something other than a task's frame; release it by arena.release and arena.tidy. Throws std::bad_alloc.
NOPAL_API NOPAL_COLD void* allocate_in_body(worker& w, std::size_t n);

/// Ends the program: a task's function was called as an ordinary one.
[[noreturn]] NOPAL_API NOPAL_COLD void die_called_directly() noexcept;
/// Ends the program: a task ends with children not joined. `e`: the exception that it ends by, or null.
[[noreturn]] NOPAL_API NOPAL_COLD void die_unjoined(std::exception_ptr e) noexcept;

/// A child of `p`, which is the caller's, left strand.exception: p's next join or call throws it.
void child_failed(worker& w, frame* p) noexcept;
/// Records strand.exception, of a child that `p` forked after `epoch` steals.
void keep_exception(worker& w, frame* p, std::uint64_t epoch) noexcept;
/// `p` is about to be resumed and to throw: sets the alarm by which its await_resume knows.
void must_throw_into(worker& w, frame* p) noexcept;

/// A complete scope's task is about to be resumed by the calling worker, whose arena is empty: it takes the task's arena over.
void take_over(worker& w, frame& f) noexcept;

}  // namespace nopal::core
