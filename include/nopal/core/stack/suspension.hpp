#pragma once

// Suspending a native stack until a worker resumes it. The worker gives away what its deque holds before it leaves the stack, so any worker
// may resume that. Called by native_fork.hpp, scope_child.hpp, the wait room and the search for work. What is handed over in which order:
// README.md, "Suspending and resuming". Next: context.hpp, the switch itself; scheduler/search.hpp, what runs on the next stack.

#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// One suspension of a stack. It is in a frame on that stack, so it may be gone once publish has made the stack known.
struct suspension : after_switch {
  stack* left;    ///< the stack that was left: set by suspend
  waits_for why;  ///< for reports
  bool reclaims;  ///< the unused pages of the stack go back to the system
  /// Makes the stack known to the thread that will resume it: from then on neither the stack nor this may be touched. The worker that has
  /// left the stack calls it, on another one. True: what the stack waits for has happened already, no other worker will resume it, and this
  /// one does at once.
  bool (*publish)(suspension&) noexcept;
};

/// Suspends the stack on which the caller runs: returns true once a worker has resumed it. That may be another worker, on another thread.
/// Until then the worker that left it searches for work on a stack of its cache. False: there is no memory for that stack, or for the tasks
/// in the deque, and nothing has happened. By a worker.
bool suspend(suspension& s) noexcept;
/// Suspends the stack on which the caller runs, and resumes `next`, which the caller owns and which may run here: with one switch, and no
/// search between. Returns once a worker has resumed the caller's stack. By a worker whose deque is empty, and whose stack does not stay and
/// has no task's frame.
void suspend_for(suspension& s, stack& next) noexcept;

/// A suspension whose `publish` is the call of a closure, which may be in the frame that is left: publish(stack).
template <class Publish>
struct suspension_by : suspension {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, stack&>);
  Publish& closure;

  suspension_by(waits_for reason, bool gives_back, Publish& publishes) noexcept : closure{publishes} {
    why = reason;
    reclaims = gives_back;
    publish = [](suspension& x) noexcept { return static_cast<suspension_by&>(x).closure(*x.left); };
  }
};
/// As above, for the reason `why`.
template <class Publish>
bool suspend(waits_for why, bool reclaims, Publish publish) noexcept {
  suspension_by<Publish> s{why, reclaims, publish};
  return suspend(s);
}
/// As above; no pages go back.
template <class Publish>
void suspend_for(waits_for why, stack& next, Publish publish) noexcept {
  suspension_by<Publish> s{why, false, publish};
  suspend_for(s, next);
}

/// Resumes `s`, which the caller owns and which may run here (home.hpp). By a worker, at the base of its stack, which is free then; the
/// deque is empty.
[[noreturn]] void resume_stack(stack& s) noexcept;
/// Sends `s`, which the caller owns, to the thread that left it. Any thread; the caller keeps the pool alive. `s` may be gone afterwards.
void bring_home(pool_state& pool, stack& s) noexcept;
/// True if `r` is a stack on its way home that must wait there for its turn (home.hpp). Then running `r` only notes that it has
/// arrived.
bool only_awaits_turn(resumable const& r) noexcept;
/// Resumes `s`, which the caller owns, if it may run on the calling worker's thread; then it does not return. Else sends it home. Otherwise
/// as resume_stack.
void resume_at_home(stack& s) noexcept;
/// Lets the calling worker's thread resume `s`, which the caller owns and which does not stay, once the thread waits on top of no stack any
/// more. `s` descends from what the thread waits for, and a lock that its frames hold may block all other threads.
void resume_after_top(worker& w, stack& s) noexcept;
/// Resumes a stack that was left at a fork of a scope. By the worker that has taken it from a deque or an inbox: resumable::run of each
/// stack.
void run_left_stack(resumable& r, worker& w) noexcept;
/// Leaves `mine`, from its base, and resumes the own stack of the thread that works here: worker::began_on. `mine` is free then.
[[noreturn]] void leave_for_thread(stack& mine) noexcept;

// Giving away what a strand has offered, when its worker leaves the native stack or the task moves to another worker: core/README.md,
// invariant 7. Called by suspend, above, before it leaves the stack; by ../task/slow_path.cpp, native_fork.cpp and ../scheduler/due.cpp.

/// Empties the deque of `w`, by its owner, and rewinds it. Puts each entry into the worker's inbox, where any worker finds it, as if it had
/// been stolen: a branch or a stack as it is, a task in an orphaned_continuation from `memory`. That must hold enough (orphan_memory::get),
/// and is empty afterwards. O(entries).
void give_everything_away(worker& w, orphan_memory& memory) noexcept;

/// Empties the deque of `w`, by its owner, which will soon continue: as above, but into the worker's ring, the newest on top. False: there
/// is not enough memory, and nothing has happened. Throws std::bad_alloc, and nothing has happened then either. O(entries).
bool move_to_ring(worker& w);

}  // namespace nopal::core
