#pragma once

// What a scope of an ordinary function knows of its children. Each child runs on a native stack of its own, while the parent's stack is
// offered to thieves. Stored in ../../scope.hpp, in the parent's frame. Next on the path: child_of, below, which runs a child, also where
// the parent was stolen.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

class event;
class outside_children;
class stack;

/// Invariant: a child that lost its parent to a thief touches only `join`, `first` under its lock, and `waiting` or `done` once its arrival
/// has completed the join.
struct children {
  stack* owner;             ///< the stack on which the scope's function runs, on any worker; null off a pool
  std::uint64_t state = 0;  ///< | steals of the parent … | listed 2 | thrown 1 |; touched only by the worker that runs the parent
  stack* stays_on;          ///< while `listed` is set: the owner, since `owner` is null then
  join_word join;           ///< counts the children that lost their parent, and guards `first`

  // Undefined until state is not 0.
  union {
    join_waiter waiting;        ///< the parent at its join
    outside_children* outside;  ///< off a pool, until the join begins
    event* done;                ///< off a pool, from then on: written before the join word announces the children
  };
  region_id around;  ///< the stop region in which the function ran when it forked first
  region_id later;   ///< the region of its later children, while it is the function's; or no_region
  int uncaught;  ///< std::uncaught_exceptions() when `state` left 0: a larger number at the join means that an exception unwinds the scope
  kept_exception first;  ///< what the children have thrown

  static constexpr std::uint64_t thrown = 1;
  static constexpr std::uint64_t listed = 2;  ///< the stack stays, and children of this scope are in a list: outside_children
  static constexpr std::uint64_t one_steal = 4;
  std::uint64_t steals() const noexcept { return state / one_steal; }

  explicit children(stack* here) noexcept : owner{here} {}
  children(children const&) = delete;
  children& operator=(children const&) = delete;
  ~children() {}  // `first` is emptied by join_children
};

/// One child before it has its own stack. It is in the parent's frame, and may be gone once the parent is offered.
struct child {
  children* of;
  /// Takes the closure out of the parent's frame, offers the parent if `offers`, runs the closure, and takes the parent back. Does not
  /// return if a thief took the parent.
  using run_function = void (*)(child&, bool offers);
};

// The children, not yet begun, of a scope that has no stack to offer: its thread works for no pool, or its stack stays. So it puts them
// into this list. One job of the pool, the carrier, takes them to the workers. Why each child begins once a worker is free, and which
// thread frees what: README.md, "Scopes off a pool". Called by ../../scope.hpp and scope_child.cpp. Next: scheduler/submission.hpp, which
// puts the carrier into an inbox.

struct pool_state;
class worker;

/// A child in the list. It belongs to the thread that takes it out.
struct outside_child {
  /// Runs the closure on the calling worker, frees this, and arrives at the join: from then on the scope may be gone.
  void (*run)(outside_child&) noexcept;
  children& of;
  std::uint64_t epoch;  ///< its place in the serial order
  /// Of the scope's thread when it forked; it holds the region.
  strand_context const runs_in{job_context::now(inherited_region()), values_here()};
  outside_child* older = nullptr;
  outside_child* newer = nullptr;

  outside_child(children& c, void (*f)(outside_child&) noexcept) noexcept : run{f}, of{c}, epoch{c.steals()} {
    hold_region(runs_in.region);
  }
  outside_child(outside_child const&) = delete;
  outside_child& operator=(outside_child const&) = delete;
  ~outside_child() { drop_region(runs_in.region); }
};

/// What one scope has forked since its last join. It is the carrier, too: each time that a worker runs it as a job, it takes one child, and
/// is put into the worker's ring again if there are more.
class NOPAL_API outside_children : resumable {
 public:
  /// The list of `c`, which the first fork makes. By the scope's thread. Ends the program with a message if the scope belongs to another
  /// stack. Throws std::bad_alloc and what pool() throws: then nothing has happened. pool() returns the pool whose workers run the
  /// children; begin_all(list) takes all that are in the list, and runs them in parallel, on a worker.
  static outside_children& of(children& c, pool_state& (*pool)(), void (*begin_all)(outside_children&) noexcept);
  /// Adds `c`, the newest. By the scope's thread. A worker begins it once it is free, unless the joining thread takes it before.
  void add(outside_child& c) noexcept;
  /// Takes the newest child out of the list, for the caller to run. Null: the list is empty. By a worker.
  outside_child* take_newest() noexcept;
  /// Returns when all children have ended. By the scope's thread. Runs what is still in the list, the newest first: on the thread's stack,
  /// if that stays; else as a sleeping worker, if there is one. Afterwards this may be gone.
  void join(children& c) noexcept;

 private:
  outside_children(stack* made_on, pool_state& on, void (*b)(outside_children&) noexcept) noexcept
      : resumable{carry}, made_on_{made_on}, pool_{on}, begin_all_{b} {}
  ~outside_children() = default;

  static void carry(resumable& r, worker& w) noexcept;
  void help() noexcept;
  void leave() noexcept;
  void lock() noexcept;
  void unlock(std::uint32_t kept) noexcept;

  // The bits of word_.
  static constexpr std::uint32_t locked = 1;   ///< held for a few instructions
  static constexpr std::uint32_t carried = 2;  ///< the carrier is in an inbox or a ring, or searches the list: it will find what is there
  static constexpr std::uint32_t left = 4;     ///< the scope has ended: the carrier frees this when it runs next

  stack* const made_on_;  // the stack on which the scope's function runs, if that stays; null off a pool
  pool_state& pool_;
  void (*const begin_all_)(outside_children&) noexcept;
  std::atomic<std::uint32_t> word_{0};
  // The list, under the lock.
  outside_child* oldest_ = nullptr;
  outside_child* newest_ = nullptr;
};

// The slow paths of a scope's forks: the child runs on a fresh stack while the forking function's stack is offered whole. Called by
// ../../scope.hpp and child_of, below, by workers; child_threw and join_children also by threads that work for no pool. Why parents and
// children find each other: README.md, "Scopes". Next: suspension.hpp, which leaves and resumes stacks.

/// True if a scope may fork here in the fast way. The caller also checks that no task's frame is on this stack: fork_state::no_tasks.
NOPAL_INLINE bool may_leave_stack(worker const& w) noexcept {
  return !w.work.must_poll() && !w.work.must_grow() && !w.stacks.empty() && handles_none();
}
/// True if the next child of `c` must be put into a list, since there is no stack to offer. Off a pool; and where the stack stays, if
/// thieves find nothing else in this worker's ring: once an idle worker has one child to take, calling the others is cheaper. Not for a
/// scope that has children to which its parent was lost. By the scope's function.
NOPAL_API NOPAL_COLD bool must_list(children const& c) noexcept;
/// Forks `c` by the slow way. Returns when the child has ended, or when its parent was stolen and the thief resumes it. Without memory for
/// another stack the child is called here. Ends the program with a message if the scope belongs to another stack.
NOPAL_API NOPAL_COLD void fork_child(child& c, child::run_function run);
/// Finishes a fast fork in which the parent was stolen: by the thief, on the parent's stack. `a` is what nopal_context_fork returned.
NOPAL_API NOPAL_COLD void parent_stolen(children& c, after_switch* a) noexcept;
/// Records std::current_exception(), thrown by a child that was forked after `epoch` steals of its parent. Before the child arrives.
NOPAL_API NOPAL_COLD void child_threw(children& c, std::uint64_t epoch) noexcept;
/// Notes that a child has thrown. By that child, while it owns its parent: not offered yet, or taken back.
NOPAL_API NOPAL_COLD void child_had_thrown(children& c) noexcept;
/// Decides after a child has ended whose pop failed. Returns if the parent is still the caller's. Else the child arrives at the join. Then
/// the worker resumes the parent, if this was the last child and the parent waits; otherwise it searches for work.
NOPAL_API NOPAL_COLD void parent_lost(children& c) noexcept;
/// Waits for all children. Returns the exception that serial execution would have met first, or null. By the scope's function, if c.state
/// is not 0: afterwards it is. Ends the program with a message if the scope belongs to another stack.
NOPAL_API NOPAL_COLD std::exception_ptr join_children(children& c) noexcept;

// A child of a scope with its closure. On its own stack it takes the closure out of the parent's frame, offers the parent, and runs the
// closure. Made by ../../scope.hpp. Next on the path: deque/continuation.hpp; scope_child.cpp, where the parent was stolen; the list above,
// for scopes off a pool.

/// A child and its closure, which is in the fork's full expression until it is moved or copied to the child's stack. F: the type that is
/// kept; Given: the type with which it was given, a reference.
template <class F, class Given>
struct child_of : child {
  std::remove_reference_t<Given>* closure;

  child_of(children& c, std::remove_reference_t<Given>& f) noexcept : child{&c}, closure{std::addressof(f)} {}

  /// The body of the child's stack in a fast fork, called by nopal_context_fork. Returns if the child has taken its parent back.
  static void run_fast(void* self) { run<true>(*static_cast<child_of*>(self), true); }
  /// child::run_function of a slow fork.
  static void run_slowly(child& self, bool offers) { run<false>(static_cast<child_of&>(self), offers); }

 private:
  template <bool Fast>
  NOPAL_INLINE static void run(child_of& self, bool offers) {
    children& of = *self.of;
    std::uint64_t const epoch = of.steals();
    bool offered = false;
    bool threw = false;
    try {
      F f(static_cast<Given>(*self.closure));
      if (Fast || offers) {
        make_offer(*current(), continuation::of_stack(*of.owner));  // from here on a thief may resume the parent: `self` may be gone
        offered = true;
        if constexpr (!Fast) static_cast<void>(worker::poll());  // a thief may have requested work
      }
      static_cast<void>(static_cast<called_once<F>>(f)());
    } catch (...) {
      child_threw(of, epoch);
      threw = true;
    }
    if (offered && !take_back(*current())) [[unlikely]]
      parent_lost(of);
    if (threw) child_had_thrown(of);
  }
};

/// A child that was forked off a pool, with its closure, in memory of its own.
template <class F>
struct outside_child_of final : outside_child {
  F f;

  template <class Given>
  outside_child_of(children& c, Given&& closure) : outside_child{c, run_and_free}, f(static_cast<Given&&>(closure)) {}

  /// outside_child::run.
  static void run_and_free(outside_child& c) noexcept {
    children& of = c.of;
    auto& self = static_cast<outside_child_of&>(c);
    // Not adopted for the whole job: the scope's thread may run the child at its join, in another context.
    strand_context const before = current()->runs_in();
    current()->continue_in(self.runs_in);
    try {
      static_cast<void>(static_cast<called_once<F>>(self.f)());
    } catch (...) {
      child_threw(of, self.epoch);
    }
    delete &self;
    current()->continue_in(before);
    if (of.join.arrive()) of.done->set();  // the last touch of the scope is the arrival, or this
  }
};

}  // namespace nopal::core
