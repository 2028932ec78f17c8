#pragma once

// counter: how fibers wait for each other. Any thread counts it up and down and waits for a value. Next: core/wait/basic_counter.hpp, the
// protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/task.hpp"
#if NOPAL_PROFILES
#include "nopal/profile/procedure.hpp"
#endif

namespace nopal::inline NOPAL_ABI {

class counter;

namespace core {

struct counter_access;

template <class F, class Counter>
struct fiber_record;

/// The awaiter of `co_await left.reaches(0)`.
class reach_awaiter : public stack_awaiter {
 public:
  reach_awaiter(counter& c, std::int64_t target, frame& t) noexcept : stack_awaiter{t}, what_{c}, target_{target} {}
  bool await_ready();
  void await_resume() const { rethrow_if_failed(); }

 private:
  counter& what_;
  std::int64_t target_;
};
struct reach : awaitable_tag {
  counter& what;
  std::int64_t target;
  reach_awaiter in(frame& task) const noexcept { return {what, target, task}; }
};

/// Keeps what a fiber has thrown in its counter, before the fiber counts it down. Without a counter, `c` is null, and this ends the
/// program.
NOPAL_API NOPAL_COLD void fail_fiber(counter* c, std::exception_ptr e) noexcept;
/// Ends the program with the exception's message, and the remedy.
[[noreturn]] NOPAL_COLD void die_fiber(std::exception_ptr const& e, char const* remedy) noexcept;

}  // namespace core

/// A number for which fibers, tasks, functions and threads wait, until it is at most some value. Any thread may use it; each operation is
/// atomic. Destroying it while a thread waits for it, or above 0, since a fiber may still count it down, ends the program with a message.
/// So does destroying it with an exception that has left a fiber, and that no wait_for has rethrown, unless that is nopal::stopped, or
/// another exception destroys the counter, or something that began after it (after.hpp) has failed with that exception. It keeps the first
/// of several exceptions.
///
///     nopal::counter left;
///     for (auto& item : items) nopal::spawn(left, [&] { cook(item); });
///     nopal::wait_for(left);
class NOPAL_API counter {
 public:
  /// A counter that begins at 0. A worker that makes it becomes its owner, and adds without a read-modify-write.
  NOPAL_PROFILED counter() noexcept : word_{0, core::current_or_null()} {
#if NOPAL_PROFILES
    core::begin_signals(this);
#endif
  }
  /// A counter that begins at `n`. Throws std::invalid_argument if that is less than -max() or more than max().
  NOPAL_PROFILED explicit counter(std::int64_t n) : word_{checked("counter{n}", n), core::current_or_null()} {
#if NOPAL_PROFILES
    core::begin_signals(this);
#endif
  }
  counter(counter const&) = delete;
  counter& operator=(counter const&) = delete;
  ~counter() {
    if (!word_.at_rest()) [[unlikely]]
      check_destroyed();
  }

  /// The most that it counts, up or down. Each call is checked. All that is counted up, and all that is counted down, must each stay below
  /// that too, which is not checked: a program that counts a thousand million times a second gets there after nine years.
  static constexpr std::int64_t max() noexcept { return std::int64_t{1} << 58; }

  /// Counts up by `n`: by one read-modify-write, or by a load and a store on the worker that made the counter. A negative `n` counts down,
  /// as done(-n). Throws std::invalid_argument if `n` is less than -max() or more than max(); then nothing has changed.
  void add(std::int64_t n = 1) {
    if (checked("counter::add(n)", n) < 0) [[unlikely]]
      return count_down(-n);
    count_up(n);
  }
  /// Counts down by `n`, and wakes those that wait for the value, in O(waiters). One read-modify-write if none waits, or if all wait for 0
  /// or less and the value stays above 0. A negative `n` counts up, as add(-n). Throws as add.
  NOPAL_PROFILED void done(std::int64_t n = 1) {
    static_cast<void>(checked("counter::done(n)", n));
#if NOPAL_PROFILES
    core::signal_from_here(this);
#endif
    if (n < 0) [[unlikely]]
      return count_up(-n);
    count_down(n);
  }
  /// A value that the counter has had during the call.
  std::int64_t load() const noexcept {
    core::in_order();
    return word_.load();
  }

  /// As wait_for(*this, value).
  core::waited wait(std::int64_t value = 0);

  /// For a task: `co_await left.reaches(0)` waits as wait_for(left, 0), also between fork and join, and throws the same.
  core::reach reaches(std::int64_t value) noexcept { return {{}, *this, value}; }

 private:
  friend core::waited wait_for(counter& c, std::int64_t value);
  friend bool wait_until(counter& c, std::int64_t value, std::chrono::steady_clock::time_point deadline);
  friend void core::fail_fiber(counter* c, std::exception_ptr e) noexcept;
  template <class F, class Counter>
  friend struct core::fiber_record;
  friend core::counter_access;

  /// Counts the end of a fiber, which has thrown `e` if that is not null. `c` is null if no counter counts the fiber.
  NOPAL_INLINE static void fiber_ended(counter* c, std::exception_ptr e) noexcept {  // NOLINT(performance-unnecessary-value-param)
    if (e != nullptr) [[unlikely]]
      core::fail_fiber(c, std::move(e));
    if (c != nullptr) c->done();
  }

  static std::int64_t checked(char const* call, std::int64_t n) {
    if (n < -max() || n > max()) [[unlikely]]
      reject(call, n);
    return n;
  }
  [[noreturn]] NOPAL_COLD static void reject(char const* call, std::int64_t n);

  void count_up(std::int64_t n) noexcept { word_.add(n, core::current_or_null()); }
  void count_down(std::int64_t n) noexcept {
    core::in_order();
    if (!word_.done_if_quiet(n)) done_slowly(n);
  }
  void rethrow_if_thrown();
  NOPAL_COLD void done_slowly(std::int64_t n) noexcept;
  NOPAL_COLD void failed(std::exception_ptr e) noexcept;
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_counter<core::timed_stack_waits> word_;
};

namespace core {
/// Finds the word of a counter, for after.hpp.
struct counter_access {
  static basic_counter<timed_stack_waits>& of(counter& c) noexcept { return c.word_; }
};
}  // namespace core

/// Waits until `c` is at most `value`. Rethrows the first exception that has left a fiber spawned with `c`; one of several waiters gets it.
/// O(1). Suspends: the fiber, task or function leaves its native stack, and the worker runs others; a thread that works for no pool sleeps.
/// Throws nopal::stopped if the caller is asked to stop first (stop.hpp): the fibers still run then.
NOPAL_API core::waited wait_for(counter& c, std::int64_t value = 0);
/// As wait_for(c, value), until `deadline`. False: that passed first, and nothing is rethrown. Also throws std::bad_alloc, or
/// std::system_error if the thread that serves time limits cannot be started. O(waiters) if the deadline passes first.
NOPAL_API bool wait_until(counter& c, std::int64_t value, std::chrono::steady_clock::time_point deadline);
/// As above, by any clock.
template <class Clock, class Duration>
bool wait_until(counter& c, std::int64_t value, std::chrono::time_point<Clock, Duration> deadline) {
  return core::by_clock(deadline, [&](std::chrono::steady_clock::time_point t) { return wait_until(c, value, t); });
}
/// As above, for a duration.
template <class Rep, class Period>
bool wait_for(counter& c, std::int64_t value, std::chrono::duration<Rep, Period> timeout) {
  return wait_until(c, value, core::deadline_after(timeout));
}

inline core::waited counter::wait(std::int64_t value) { return wait_for(*this, value); }

inline bool core::reach_awaiter::await_ready() {
  return wait([this] { wait_for(what_, target_); });
}

}  // namespace nopal
