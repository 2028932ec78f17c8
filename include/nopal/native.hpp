#pragma once

// Fork-join in ordinary functions, on native stacks (the Fibril paper): parallel_invoke, and sync_wait for coroutines. Next on the fork
// path: core/stack/native_fork.hpp.

#include "nopal/core/compiler/config.hpp"

#include <type_traits>

#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/task/arguments.hpp"
#if NOPAL_PROFILES
#include <memory>
#include <source_location>

#include "nopal/profile/forks.hpp"
#endif
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// parallel_invoke by a thread that works for no pool.
template <class F, class... G>
NOPAL_COLD void invoke_off_pool(stored<F> f, stored<G>... g) {
  default_pool().run([&] { invoke_all<F, G...>(f, g...); });
}

/// parallel_invoke of valid arguments.
template <class F, class... G>
NOPAL_INLINE void invoke_here(std::remove_reference_t<F>& f, std::remove_reference_t<G>&... g) {
  if constexpr (sizeof...(G) == 0) {
    core::call_once<F>(f);
  } else if (!core::state_here()->works()) [[unlikely]] {
    core::invoke_off_pool<F, G...>(static_cast<core::stored<F>&&>(f), static_cast<core::stored<G>&&>(g)...);
  } else {
    core::invoke_all<F, G...>(f, g...);
  }
}

/// True if parallel_invoke takes these. If not, says what to write instead.
template <class F, class... G>
consteval bool may_invoke() {
  constexpr bool called = std::is_invocable_v<F&&> && (std::is_invocable_v<G&&> && ...);
  static_assert(called,
                "nopal: parallel_invoke calls each of its arguments as it was given and without arguments. Write "
                "[&] { f(a, b); } for f(a, b).");
  constexpr bool ordinary = !core::returns_task<F&&> && (!core::returns_task<G&&> && ...);
  static_assert(ordinary,
                "nopal: parallel_invoke calls ordinary functions. Write [&] { x = nopal::sync_wait(f, a); } for a coroutine "
                "function f.");
  return called && ordinary;  // if not, the message above is the only one
}

#if NOPAL_PROFILES
/// As invoke_here, measured: nopal/profile/forks.hpp.
template <class... F>
NOPAL_INLINE void invoke_at(std::source_location const& where, std::remove_reference_t<F>&... f) {
  if constexpr (core::may_invoke<F...>()) {
    measured_invoke m{where, sizeof...(F)};
    [&]<unsigned... N>(std::integer_sequence<unsigned, N...>) {
      [](auto&&... g) { core::invoke_here<decltype(g)...>(g...); }(measured_function<F&&>{&m, std::addressof(f), N}...);
    }(std::make_integer_sequence<unsigned, sizeof...(F)>{});
  }
}
#endif

}  // namespace core

/// Calls all of its arguments, which may run in parallel, and returns when all have returned. For ordinary functions: any caller, any
/// depth. The first runs now, while the later ones are offered to thieves. If a later one was stolen and has not ended, the whole native
/// stack is suspended, and the worker runs others. The caller may be resumed on another thread: so across this call it must not rely on
/// thread-locals, or on a lock that only its thread may release.
///
/// Rethrows the exception that serial execution would have met first, once all that were started have ended. Functions that serial
/// execution would not have reached may have run or not; one that runs is asked to stop (stop.hpp). On a thread that works for no pool it
/// runs on default_pool(), and throws what default_pool() throws.
///
/// Cost besides the calls: O(1) for each argument. With work T1, span T∞, at most D nested forks and S1 pages of stack in a serial run, P
/// workers take an expected time of T1/P + O(S1 + D)·T∞ (Theorem 4.3 of the Fibril paper), and P(S1 + D) pages of memory for stacks
/// (Theorem 4.2), in DPS1 pages of address space (Theorem 4.1). core/stack/README.md, "Space", says what nopal adds to these pages.
#if !NOPAL_PROFILES
template <class F, class... G>
NOPAL_INLINE void parallel_invoke(F&& f, G&&... g) {
  if constexpr (core::may_invoke<F, G...>()) core::invoke_here<F, G...>(f, g...);
}
#else  // A place cannot follow arguments of any number: of more than eight functions it is not known.
template <class... F>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&&... f) {
  core::invoke_at<F...>(std::source_location{}, f...);
}
template <class F, class G>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G>(where, f, g);
}
template <class F, class G, class H>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H>(where, f, g, h);
}
template <class F, class G, class H, class I>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, I&& i, std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H, I>(where, f, g, h, i);
}
template <class F, class G, class H, class I, class J>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, I&& i, J&& j,
                                                 std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H, I, J>(where, f, g, h, i, j);
}
template <class F, class G, class H, class I, class J, class K>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, I&& i, J&& j, K&& k,
                                                 std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H, I, J, K>(where, f, g, h, i, j, k);
}
template <class F, class G, class H, class I, class J, class K, class L>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, I&& i, J&& j, K&& k, L&& l,
                                                 std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H, I, J, K, L>(where, f, g, h, i, j, k, l);
}
template <class F, class G, class H, class I, class J, class K, class L, class M>
NOPAL_PROFILED NOPAL_INLINE void parallel_invoke(F&& f, G&& g, H&& h, I&& i, J&& j, K&& k, L&& l, M&& m,
                                                 std::source_location where = std::source_location::current()) {
  core::invoke_at<F, G, H, I, J, K, L, M>(where, f, g, h, i, j, k, l, m);
}
#endif

/// Runs a coroutine function, or an ordinary one, from ordinary code, and returns its value or rethrows its exception: on the pool for
/// which the caller works, else on default_pool(). The callable and the arguments stay the caller's, so temporaries may be given as for a
/// call. Until the job has ended the caller's native stack is suspended, and its worker is not blocked: the caller may be resumed on
/// another thread. Throws std::bad_alloc before anything has run. O(1) besides the job.
template <class F, class... A>
NOPAL_PROFILED decltype(auto) sync_wait(F&& f, A&&... a) {
  using c = core::checked<core::way::waits, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::waits, c::wrong>();
  } else {
    core::worker* const w = core::current_or_null();
    if (w == nullptr) return default_pool().run(static_cast<F&&>(f), static_cast<A&&>(a)...);
    core::awaited_job<F&&, A&&...> r{static_cast<F&&>(f), static_cast<A&&>(a)...};
    r.pool = &w->pool();
    core::run_and_wait(*r.pool, r, r.done);
    return r.take();
  }
}

}  // namespace nopal
