#pragma once

// Fork-join in ordinary functions, on native stacks (the Fibril paper). The fork path goes on in core/stack/invoke.hpp.

#include "nopal/core/compiler/config.hpp"

#include <type_traits>
#include <utility>

#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/stack/invoke.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace nopal {

namespace core {

template <class F, class... G>
NOPAL_COLD void invoke_off_pool(stored<F> f, stored<G>... g) {
  default_pool().run([&] { invoke_all<F, G...>(f, g...); });
}

}  // namespace core

/// Calls all of them, which may run in parallel, and returns when all have returned. For ordinary functions: any caller, any depth.
/// The first runs now; the later ones are offered to thieves meanwhile. Where one was stolen and is not done, the whole native stack
/// is left, and the worker does something else: the function may go on on another thread, so it must not rely on
/// thread-locals, or on a lock that only its thread may release, across this call.
/// Rethrows the exception that serial execution would have met first, once all that were started have ended; what serial execution
/// would not have come to may have run or not. Off a pool it runs on default_pool(). O(1) besides the calls; expected time
/// T1/P + O(S1 + D)·T∞ and P(S1 + D) pages of stacks, Theorems 4.3 and 4.2 of the Fibril paper.
template <class F, class... G>
NOPAL_INLINE void parallel_invoke(F&& f, G&&... g) {
  constexpr bool called = std::is_invocable_v<F&&> && (std::is_invocable_v<G&&> && ...);
  static_assert(called, "nopal: parallel_invoke calls each of its arguments as it was given and without arguments. Write "
                        "[&] { f(a, b); } for f(a, b).");
  constexpr bool ordinary = !core::returns_task<F&&> && (!core::returns_task<G&&> && ...);
  static_assert(ordinary, "nopal: parallel_invoke calls ordinary functions. Write [&] { x = nopal::sync_wait(f, a); } for a coroutine "
                          "function f.");
  if constexpr (!called || !ordinary) {
    return;  // the message above is the only one
  } else if constexpr (sizeof...(G) == 0) {
    core::call_once<F>(f);
  } else if (!core::state_here()->works()) [[unlikely]] {
    core::invoke_off_pool<F, G...>(static_cast<core::stored<F>&&>(f), static_cast<core::stored<G>&&>(g)...);
  } else {
    core::invoke_all<F, G...>(f, g...);
  }
}

/// Runs a coroutine function, or an ordinary one, from ordinary code and returns its value or rethrows its exception: on the pool that
/// the caller works for, else on default_pool(). The callable and the arguments stay the caller's, so temporaries are as good as for a call. While it is not done the caller's native stack is left, not its worker blocked.
template <class F, class... A>
decltype(auto) sync_wait(F&& f, A&&... a) {
  using c = core::checked<core::way::waits, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::waits, c::wrong>();
  } else {
    core::worker* const w = core::current_or_null();
    if (w == nullptr) return default_pool().run(static_cast<F&&>(f), static_cast<A&&>(a)...);
    core::awaited_root<F&&, A&&...> r{static_cast<F&&>(f), static_cast<A&&>(a)...};
    r.pool = &w->pool();
    core::run_and_wait(*r.pool, r, r.done);
    return r.take();
  }
}

}  // namespace nopal
