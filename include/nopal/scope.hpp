#pragma once

// scope: an ordinary function forks as many children as it likes, one by one, and joins them. Each child runs at once, on a native stack of
// its own. The forking function's stack is left as it is and offered to thieves, which resume it after the fork. Next on the fork path:
// core/stack/scope_child.hpp.

#include "nopal/core/compiler/config.hpp"

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/scope_child.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/pool.hpp"
#if NOPAL_PROFILES
#include <source_location>

#include "nopal/profile/forks.hpp"
#endif

namespace nopal::inline NOPAL_ABI {

namespace core {

/// Begins all children that are still in the list of a scope off a pool, as children of a scope on the calling worker. Returns when they
/// have ended.
NOPAL_API void begin_all(outside_children& all) noexcept;

/// The pool whose workers run the children of a scope that has no stack to offer: the calling worker's, else the default pool.
NOPAL_API NOPAL_COLD pool_state& pool_of_list();

/// A fork by a thread that has no stack to offer, since it works for no pool or its stack stays: the child waits for a worker.
template <class F, class Given>
NOPAL_COLD void fork_into_list(children& c, Given&& f) {
  auto child = std::make_unique<outside_child_of<F>>(c, static_cast<Given&&>(f));
  outside_children& all = outside_children::of(c, pool_of_list, begin_all);
  all.add(*child.release());
}

}  // namespace core

/// Forks children one by one from an ordinary function and joins them all. One scope belongs to one call of one function: it is neither
/// copied nor moved, and only that function forks and joins it, not its children, which make scopes of their own. If a child throws, those
/// that are forked after it are asked to stop (stop.hpp).
///
///     nopal::scope s;
///     for (node* c : p->children) s.fork([=] { walk(c); });
///     s.join();
///
/// Cost: a fork takes a native stack from the worker's cache for as long as its child runs. A loop of forks takes one, nested forks one
/// each; a child that waits keeps its own until it ends. Space: core/stack/README.md, "Space". Time: as parallel_invoke.
class NOPAL_PROFILED scope {
 public:
  scope() noexcept : children_{core::state_here()->here} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;

  /// Joins. Rethrows as join() does, unless another exception unwinds the scope: then that one is kept, and what the children have thrown
  /// is dropped.
  ~scope() noexcept(false) {
#if NOPAL_PROFILES
    core::measured_scope_join const m{measured_};
#endif
    if (children_.state != 0) [[unlikely]]
      join_at_end();
  }

  /// Runs f() now, while a thief may resume the caller on another thread: so across this call the caller must not rely on thread-locals, or
  /// on a lock that only its thread may release. `f` is moved or copied first. What f() throws is kept for the join. On a thread that works
  /// for no pool the child begins as soon as a worker of default_pool() is free; then this may throw std::bad_alloc, or what default_pool()
  /// throws. If the stack stays (stay.hpp, pool_options::resume) the child is called, or begins as soon as a worker is free, or at the
  /// join, and the caller continues at once: then this may throw std::bad_alloc. O(1).
  template <class F>
#if NOPAL_PROFILES
  NOPAL_INLINE void fork(F&& f, std::source_location where = std::source_location::current()) {
#else
  NOPAL_INLINE void fork(F&& f) {
#endif
    using closure = std::decay_t<F>;
    using called = core::called_once<closure>;
    constexpr bool callable = std::is_invocable_v<called>;
    static_assert(callable,
                  "nopal: scope::fork takes something to be called without arguments. Write s.fork([=] { f(a, b); }) for f(a, b).");
    constexpr bool ordinary = !core::returns_task<called>;
    static_assert(ordinary,
                  "nopal: scope::fork runs ordinary functions. Write s.fork([&] { x = nopal::sync_wait(f, a); }) for a coroutine "
                  "function f.");
    constexpr bool kept = std::is_constructible_v<closure, F&&>;
    static_assert(kept, "nopal: scope::fork keeps its closure by value, and this one cannot be copied. Write s.fork(std::move(f)).");
    if constexpr (callable && ordinary && kept) {
#if NOPAL_PROFILES
      core::measured_fork const m{measured_, where};
      fork_checked<core::measured_closure<closure>>(core::measured_given<F&&>{m.start(), std::addressof(f)});
#else
      fork_checked<closure>(static_cast<F&&>(f));
#endif
    }
  }

  /// Returns when all children have ended, and rethrows the exception that serial execution would have met first. If a child has not ended,
  /// the native stack is suspended and the worker runs others; the caller may be resumed on another thread. No atomic operation if nothing
  /// was stolen. A thread that works for no pool occupies a sleeping worker, if there is one, and runs what no worker has begun; else it
  /// sleeps. O(1) besides the children.
  NOPAL_INLINE void join() {
#if NOPAL_PROFILES
    core::measured_scope_join const m{measured_};
#endif
    if (children_.state != 0) [[unlikely]]
      join_slowly();
  }

 private:
  template <class closure, class F>
  NOPAL_INLINE void fork_checked(F&& f) {
    core::child_of<closure, F&&> c{children_, f};
#if !NOPAL_ASAN && !NOPAL_TSAN
    core::fork_state* const state = core::state_here();
    core::worker* const w = state->alarm == core::fork_state::no_tasks ? static_cast<core::worker*>(state) : nullptr;
    if (w != nullptr && core::may_leave_stack(*w) && w->here == children_.owner) [[likely]] {
      core::stack& parent = *w->here;
      core::stack& s = *w->stacks.get();
      w->here = &s;
      if (core::after_switch* const a = core::nopal_context_fork(&parent.sp, s.top(), &c, c.run_fast); a != nullptr) [[unlikely]] {
        return core::parent_stolen(children_, a);
      }
      core::worker* const after = core::current();
      after->here = &parent;
      after->stacks.put(&s);
      return;
    }
#endif
    if (core::must_list(children_)) [[unlikely]]
      return core::fork_into_list<closure>(children_, static_cast<F&&>(f));
    core::fork_child(c, c.run_slowly);
  }

#if NOPAL_PROFILES
  core::measured_scope measured_;
#endif

  NOPAL_COLD void join_slowly() {
    if (std::exception_ptr const e = core::join_children(children_); e != nullptr) std::rethrow_exception(e);
  }
  NOPAL_COLD void join_at_end() {
    bool const unwinding = std::uncaught_exceptions() > children_.uncaught;
    std::exception_ptr const e = core::join_children(children_);
    if (e != nullptr && !unwinding) std::rethrow_exception(e);
  }

  core::children children_;
};

}  // namespace nopal
