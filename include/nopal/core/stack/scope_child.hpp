#pragma once

// The slow paths of a scope's forks: the child runs on a fresh stack while the forking function's stack is offered whole. Called by
// ../../scope.hpp and child_of, below, by workers; child_threw and join_children also by threads that work for no pool. Why parents and
// children find each other: README.md, "Scopes". Next: children.hpp; suspension.hpp, which leaves and resumes stacks.

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/fork_protocol.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/outside_children.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
// closure. Made by ../../scope.hpp. Next on the path: deque/fork_protocol.hpp; scope_child.cpp, where the parent was stolen;
// outside_children.hpp, for scopes off a pool.

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
