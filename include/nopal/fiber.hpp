#pragma once

// Fibers: green threads on the workers of a pool. A fiber is a closure in its worker's ring until it starts, then whatever runs on a
// native stack; where it waits, the stack is left. Fibers, tasks and ordinary functions wait for each other.

#include "nopal/core/compiler/config.hpp"

#include <chrono>

#include "nopal/channel.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/counter.hpp"
#include "nopal/mutex.hpp"
#include "nopal/named.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"

namespace nopal {

/// Starts f() some time, on some worker of the caller's pool, or of default_pool() off a pool. `f` is moved or copied first. It takes a
/// stack when it starts, not before: a fiber that waits to start costs its closure and less than 64 bytes. An exception that leaves it
/// ends the program with its message: give a counter, and wait_for rethrows it. Throws std::bad_alloc. The pool's destructor waits for it.
template <class F>
void spawn(F&& f) {
  core::spawn(nullptr, core::default_pool_state, static_cast<counter*>(nullptr), static_cast<F&&>(f));
}
/// Starts f() likewise, and `c` counts it: up now, down when it has ended.
template <class F>
void spawn(counter& c, F&& f) {
  core::spawn_counted(nullptr, core::default_pool_state, c, static_cast<F&&>(f));
}
/// Lets everything run that waits for the caller's worker. Off a pool: std::this_thread::yield().
NOPAL_API void yield() noexcept;

/// Parks for a time; off a pool the thread sleeps. Throws std::bad_alloc, std::system_error where there is no memory or thread for
/// time limits.
NOPAL_API void sleep_until(std::chrono::steady_clock::time_point t);
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> d) {
  sleep_until(core::deadline_after(d));
}
template <class Clock, class Duration>
void sleep_until(std::chrono::time_point<Clock, Duration> t) {
  for (auto left = core::time_left(t); left.count() > 0; left = core::time_left(t)) sleep_for(left);
}

}  // namespace nopal
