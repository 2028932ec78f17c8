#pragma once

// Fibers: green threads on the workers of a pool. A fiber is a closure in a ring or an inbox until it starts; then it is what runs on a
// native stack. A wait suspends the stack. Fibers, tasks and ordinary functions wait for each other. Next: counter.hpp, how they do;
// core/scheduler/fiber_record.hpp, a fiber that has not started.

#include "nopal/core/compiler/config.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "nopal/after.hpp"
#include "nopal/channel.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/task/waiting_task.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber_name.hpp"
#include "nopal/mutex.hpp"
#include "nopal/named.hpp"
#include "nopal/pool.hpp"
#include "nopal/priority.hpp"
#include "nopal/semaphore.hpp"
#if NOPAL_PROFILES
#include "nopal/profile/forks.hpp"
#endif

namespace nopal::inline NOPAL_ABI {

/// Spawns a fiber, which runs f() later, on some worker of the caller's pool, or of default_pool() off a pool. `f` is moved or copied
/// first. A fiber takes a stack only when it starts: until then it takes its closure and 40 to 71 bytes. An exception that leaves it
/// ends the program with its message; spawn it with a counter, and wait_for rethrows the exception. nopal::stopped, which was asked for,
/// only ends the fiber. Throws std::bad_alloc. The pool's destructor waits for the fiber. O(1).
template <class F>
#if NOPAL_PROFILES
NOPAL_PROFILED void spawn(F&& f, std::source_location where = std::source_location::current()) {
  core::spawn_measured(nullptr, core::default_pool_state, static_cast<counter*>(nullptr), where, static_cast<F&&>(f));
#else
void spawn(F&& f) {
  core::spawn(nullptr, core::default_pool_state, static_cast<counter*>(nullptr), static_cast<F&&>(f));
#endif
}
/// As spawn(f), with a counter: `c` is counted up by one now, and down when the fiber has ended.
template <class F>
#if NOPAL_PROFILES
NOPAL_PROFILED void spawn(counter& c, F&& f, std::source_location where = std::source_location::current()) {
  core::spawn_measured(nullptr, core::default_pool_state, &c, where, static_cast<F&&>(f));
#else
void spawn(counter& c, F&& f) {
  core::spawn_counted(nullptr, core::default_pool_state, c, static_cast<F&&>(f));
#endif
}
/// As spawn(f), but the fiber begins when all of `d` have ended: after.hpp. Until then no stack waits. If one has failed, the fiber does not
/// run: a failed counter's exception then ends the program, and that of a future is lost only if nobody asks the future for it. In the
/// caller's pool, or in default_pool() off a pool, whose destructor waits for the fiber. Throws std::bad_alloc.
template <class F>
void spawn(dependencies d, F&& f) {
  core::spawn_after(nullptr, core::default_pool_state, core::dependency_access::take(d), static_cast<counter*>(nullptr),
                    static_cast<F&&>(f));
}
/// As above, and `c` counts the fiber: up now, down when it has ended; so `c` is none of `d`, or it would wait for itself. If one of `d` has failed, `c` gets that exception, as from the fiber.
template <class F>
void spawn(dependencies d, counter& c, F&& f) {
  core::spawn_after(nullptr, core::default_pool_state, core::dependency_access::take(d), &c, static_cast<F&&>(f));
}
/// As the others, whose arguments follow, but the fiber, and all that it begins, is as urgent as `p` says: priority.hpp. A priority that is
/// not the caller's costs some 100 ns.
template <class... X>
  requires(sizeof...(X) > 0)
NOPAL_PROFILED void spawn(priority p, X&&... x) {
  core::worker* const w = core::current_or_null();
  core::inside_priority const inside{p, w != nullptr ? w->pool() : core::default_pool_state()};
  nopal::spawn(static_cast<X&&>(x)...);
}
/// Lets what waits for the caller's worker run first: all of it, or some 60 if there is more. It may be less if another thread has added
/// something, or has stolen some. Suspends: the fiber, task or function leaves its native stack. Returns at once if nothing waits,
/// nor, in a pool with a limit (cpu_limit.hpp), another worker for its turn. Off a pool it is std::this_thread::yield().
NOPAL_API core::waited yield() noexcept;

namespace core {

/// Waits until `t`, on the caller's stack or as a thread. Throws as sleep_until.
NOPAL_API void sleep_here(time_point t);

/// When a sleep ends, by any clock.
struct sleep_end {
  time_point until{};
  std::array<std::byte, 16> by_its_clock{};  // a time of that clock's, which in nanoseconds may fit into no number
  bool (*again)(sleep_end&) = nullptr;       // null: by the steady clock

  template <class Clock, class Duration>
  void set(std::chrono::time_point<Clock, Duration> t) {
    if constexpr (std::is_same_v<decltype(t), time_point>) {
      until = t;
    } else {
      auto const left = time_left(t);
      until = deadline_after(left);
      if (left == std::chrono::nanoseconds::zero() || left == std::chrono::nanoseconds::max()) return;
      using kept = decltype(t);
      static_assert(
          sizeof(kept) <= sizeof(by_its_clock) && std::is_trivially_copyable_v<kept>,
          "nopal: sleep_until takes a time of 16 bytes at most, which is trivially copyable: convert it by std::chrono::time_point_cast.");
      std::memcpy(by_its_clock.data(), &t, sizeof(t));
      again = [](sleep_end& s) {
        kept when;
        std::memcpy(&when, s.by_its_clock.data(), sizeof(when));
        if (!is_still_ahead(when)) return false;
        s.until = deadline_after(time_left(when));
        return true;
      };
    }
  }
  /// `until` has come. True: it has not by its clock, and `until` is later now.
  bool is_ahead() { return again != nullptr && again(*this); }
};

/// What sleep_for and sleep_until return: pending_call.
class sleeping : public pending_call {
 public:
  sleeping() noexcept = default;
  ~sleeping() noexcept(false) {
    if (must_end()) finish();
  }

  template <class Frame, class Awaiter = task_waits_for<sleeping>>
  Awaiter in(Frame& f) && {
    return {*this, f};
  }

  template <class Clock, class Duration>
  void begin_until(std::chrono::time_point<Clock, Duration> t) {
    end_.set(t);
    if (task_may_wait_here()) return begin();
    finish();
  }

 private:
  template <class Call>
  friend class task_waits_for;

  void finish() {
    end();
    do sleep_here(end_.until);
    while (end_.is_ahead());
  }
  sleep_end end_;
};

}  // namespace core

/// Waits until `t`. Continues within 0.1 ms and one leaf, also if all workers fork and none is idle (core/scheduler/due.md). Throws
/// std::bad_alloc, or std::system_error if the thread that serves time limits cannot be started; nopal::stopped if the caller is asked to
/// stop (stop.hpp).
///
/// Suspends: the fiber, task or function leaves its native stack, and the worker runs others; off a pool the thread sleeps. In a task
/// `co_await nopal::sleep_until(t)` holds no native stack. Called with one argument.
inline core::sleeping&& sleep_until(std::chrono::steady_clock::time_point t, core::sleeping&& call NOPAL_LIFETIMEBOUND = {}) {
  call.begin_until(t);
  return std::move(call);
}
/// As above, for a duration.
template <class Rep, class Period>
core::sleeping&& sleep_for(std::chrono::duration<Rep, Period> d, core::sleeping&& call NOPAL_LIFETIMEBOUND = {}) {
  call.begin_until(core::deadline_after(d));
  return std::move(call);
}
/// As above, by any clock, which may be set during the wait.
template <class Clock, class Duration>
core::sleeping&& sleep_until(std::chrono::time_point<Clock, Duration> t, core::sleeping&& call NOPAL_LIFETIMEBOUND = {}) {
  call.begin_until(t);
  return std::move(call);
}

namespace core {

/// `co_await nopal::sleep_for(d)`.
template <>
class NOPAL_API task_waits_for<sleeping> final : public parks<task_waits_for<sleeping>> {
 public:
  task_waits_for(sleeping& call, frame& f) noexcept
      : parks{f, {"a time", nullptr, wait_kind::nothing_more, 0, nanoseconds_of(call.end_.until)}},
        end_{call.end_},
        me_{*this},
        is_over_{!call.is_pending()} {
    call.end();
  }
  bool await_ready() const noexcept { return is_over_; }
  void await_resume() { rethrow_if_failed(); }

 private:
  friend class parks<task_waits_for>;
  bool waits(bool woken);
  void wait_here();

  sleep_end end_;
  task_node<waiter> me_;
  bool const is_over_;
};

}  // namespace core

}  // namespace nopal
