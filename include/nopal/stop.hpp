#pragma once

// Stopping early: a request to stop reaches all that was begun inside of one call, on any worker. Next: core/stop/README.md, what carries
// the request, and core/stop/here.hpp.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI {

/// True if the caller is asked to stop: by a token in whose region it runs, by the deadline of one, or with its whole pool
/// (pool::request_stop). Any thread. Outside of all regions a few loads; inside, a call. If it is true because of a token or a pool, it has
/// acquired what the requester wrote before. Also true if an exception has made the caller's work useless: see with_stop.
inline bool stop_requested() noexcept { return core::stop_requested_here(); }
/// Throws nopal::stopped if the caller is asked to stop. In a task not between fork and join, as any exception of its own.
inline void stop_point() {
  if (core::stop_requested_here()) [[unlikely]]
    core::throw_stopped();
}

namespace core {

/// Calls an ordinary function here; runs a coroutine function on the caller's pool.
template <class F, class... A>
decltype(auto) call_in_region(F&& f, A&&... a) {
  if constexpr (std::is_invocable_v<F&&, A&&...>) {
    if constexpr (!is_task<std::remove_cvref_t<std::invoke_result_t<F&&, A&&...>>>) {
      return std::invoke(std::forward<F>(f), std::forward<A>(a)...);
    } else {
      return sync_wait(std::forward<F>(f), std::forward<A>(a)...);
    }
  } else {
    return sync_wait(std::forward<F>(f), std::forward<A>(a)...);
  }
}

}  // namespace core

/// Calls f(args...) in a new stop region, and returns its result. All that it begins runs in that region too, on any worker: forks, tasks,
/// scopes, fibers, jobs that it submits, and what these begin. Once `token` is requested, or the region around it, all of that is asked to
/// stop:
///
/// - stop_requested() returns true, stop_point() throws nopal::stopped;
/// - waits throw nopal::stopped, if the event has not happened: wait_for a counter, push and pop of a channel, sleep_for and
///   sleep_until, get and wait of a future, each also by co_await, and every wait with a time limit. They end soon after the request,
///   whatever the event;
/// - lock and acquire without a time limit, joins, run and sync_wait do not end early: what they wait for belongs to the caller.
///
/// Nothing is ended by force: f returns or throws by itself, and this returns or throws the same. Code that catches `stopped` must wait for
/// fibers and jobs that use its variables, in nopal::without_stop. Regions nest. Off a pool this works as well, and forks and jobs on a
/// pool from there inherit it. A region costs some 100 ns. If forks around it were not stolen yet, the first fork in it offers those to all
/// workers as if they had been stolen. `f` may be a coroutine function: it runs as by sync_wait. Throws std::bad_alloc, and f was not
/// called then.
///
/// An exception asks too, without any region: if the first half of a parallel_invoke throws, the later ones that were stolen, and if a
/// child of a scope throws, those that are forked after it. Nothing is asked that serial execution would have run before: so the result is
/// the exception that serial execution would have met first. Only stop_requested, stop_point, loops and algorithms see this, and no wait
/// ends by it; fibers, jobs, inner regions, children of tasks and items of a pipeline are not asked.
///
///     nopal::with_stop(token, [&] { nopal::parallel_for(0, n, examine); });
template <class F, class... A>
decltype(auto) with_stop(std::stop_token token, F&& f, A&&... a) {
  core::inside_region const inside{std::move(token), core::time_point::max()};
  return core::call_in_region(std::forward<F>(f), std::forward<A>(a)...);
}

/// As with_stop, but the time asks: all in it is asked to stop from `deadline` on, by any clock, which is read once. There is no timer
/// besides those of the waits.
template <class Clock, class Duration, class F, class... A>
decltype(auto) with_deadline(std::chrono::time_point<Clock, Duration> deadline, F&& f, A&&... a) {
  core::inside_region const inside{{}, core::deadline_after(core::time_left(deadline))};
  return core::call_in_region(std::forward<F>(f), std::forward<A>(a)...);
}
/// As above, for a duration from now on.
template <class Rep, class Period, class F, class... A>
decltype(auto) with_time_limit(std::chrono::duration<Rep, Period> limit, F&& f, A&&... a) {
  core::inside_region const inside{{}, core::deadline_after(limit)};
  return core::call_in_region(std::forward<F>(f), std::forward<A>(a)...);
}

/// Calls f(args...), in which nothing is asked to stop, for any request outside. For what must be done before a stopped function ends: to
/// wait for fibers that use its variables, to close a channel. Otherwise as with_stop.
///
///     try {
///       nopal::wait_for(left);
///     } catch (nopal::stopped const&) {
///       nopal::without_stop([&] { nopal::wait_for(left); });   // they are asked, too
///       throw;
///     }
template <class F, class... A>
decltype(auto) without_stop(F&& f, A&&... a) {
  core::inside_region const inside{core::inside_region::unstoppable{}};
  return core::call_in_region(std::forward<F>(f), std::forward<A>(a)...);
}

}  // namespace nopal
