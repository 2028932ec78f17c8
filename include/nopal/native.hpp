#pragma once

// Fork-join in ordinary functions, on native stacks (the Fibril paper). The fork path begins here, goes on in core/branch.hpp and
// core/deque.hpp, and where a branch was stolen in core/worker.hpp.

#include "nopal/core/compiler/config.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nopal/core/task/arguments.hpp"
#include "nopal/core/stack/branch.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/task/forwarding.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace nopal {

namespace core {

/// How a callable is kept where it needs an address: a small temporary is moved there, so that on the fast path it needs no memory.
/// A large or over-aligned one is in memory anyway, and one whose move is not a copy of its bytes stays where it is.
template <class F>
struct taken_as {
  using type = std::remove_reference_t<F>&;
};
template <class F>
  requires(!std::is_reference_v<F>) && (std::is_trivially_copyable_v<F> && std::is_trivially_move_constructible_v<F>) &&
          (sizeof(F) <= 128 && alignof(F) <= alignof(std::max_align_t))
struct taken_as<F> {
  using type = F;
};
template <class F>
using taken = taken_as<F>::type;

/// f() as it was given, by its name or as a temporary.
template <class F>
NOPAL_INLINE void call_once(std::remove_reference_t<F>& f) {
  static_cast<void>(static_cast<F&&>(f)());
}

template <class G>
struct branch_of : branch {
  taken<G> g;
  NOPAL_INLINE explicit branch_of(std::remove_reference_t<G>& callable) noexcept
      : branch{[](branch& b) { call_once<G>(static_cast<branch_of&>(b).g); }}, g(kept_copy<taken<G>>(callable)) {}
};

template <bool Slow, class F, class G>
NOPAL_INLINE void fork_offered(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  branch_of<G> later{g};
  current()->work.push(continuation{&later}.word());
  if constexpr (Slow) current()->look_natively();
  try {
    call_once<F>(f);
  } catch (...) {
    worker::give_up(later);
    throw;
  }
  if (current()->work.pop()) [[likely]] {
    call_once<G>(g);
    return;
  }
  if (!worker::lost(later)) call_once<G>(g);
}

/// A thief has asked, or the native stack has grown below what coroutines may use of it.
template <class F, class G>
NOPAL_COLD void fork_slowly(taken<F> f, taken<G> g) {
  worker* const w = current();
  if (!w->may_fork_natively()) {
    call_once<F>(f);
    call_once<G>(g);
    return;
  }
  struct restores {
    std::uintptr_t limit;
    ~restores() { current()->work.set_limit_back(limit); }
  } const before{w->work.limit()};
  fork_offered<true, F, G>(f, g);
}

template <class F, class G>
NOPAL_INLINE void fork_two(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  if (current()->work.must_look()) [[unlikely]] return fork_slowly<F, G>(static_cast<taken<F>&&>(f), static_cast<taken<G>&&>(g));
  fork_offered<false, F, G>(f, g);
}

template <class F, class G>
NOPAL_INLINE void invoke_all(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g) {
  fork_two<F, G>(f, g);
}
template <class F, class G, class... H>
  requires(sizeof...(H) > 0)
NOPAL_INLINE void invoke_all(std::remove_reference_t<F>& f, std::remove_reference_t<G>& g, std::remove_reference_t<H>&... h) {
  auto rest = [&] { invoke_all<G, H...>(g, h...); };
  fork_two<F, decltype(rest)>(f, rest);
}

template <class F, class... G>
NOPAL_COLD void invoke_off_pool(taken<F> f, taken<G>... g) {
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
    core::invoke_off_pool<F, G...>(static_cast<core::taken<F>&&>(f), static_cast<core::taken<G>&&>(g)...);
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
    r.pool->run(r, r.done);
    return r.take();
  }
}

}  // namespace nopal
