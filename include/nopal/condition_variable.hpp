#pragma once

// condition_variable: waits for a notification, with a mutex that is locked before and after, but not during the wait. Next:
// core/wait/basic_mutex.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>

#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/mutex.hpp"

namespace nopal::inline NOPAL_ABI {

template <class T>
class channel;

namespace core {
template <class T>
struct channel_selection;
template <class T, class Derived>
class channel_task;
}

/// A condition variable as std::condition_variable, with a nopal::mutex; it may be constinit. Any thread may use it. No notification after
/// the waiter has unlocked the mutex is missed. There are no spurious wake-ups, but the condition may have changed again when the mutex is
/// locked: wait with a predicate.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps.
///
/// Every wait throws std::system_error (operation_not_permitted) if `lock` owns no mutex. A wait with a time limit also throws
/// std::bad_alloc, std::system_error if the thread that serves time limits cannot be started, and nopal::stopped if the caller is asked to
/// stop (stop.hpp). The mutex is locked whenever a wait returns or throws. It may be destroyed once all waiters are notified, even before
/// they have returned. Destroying it earlier ends the program with a message.
class NOPAL_API condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(condition_variable const&) = delete;
  condition_variable& operator=(condition_variable const&) = delete;
  ~condition_variable() {
    if (!word_.at_rest()) [[unlikely]]
      wait_for_expired();
  }

  /// Wakes the waiter that has waited longest, if there is one. The caller may own the mutex or not. One load if none waits.
  void notify_one() noexcept {
    core::in_order();
    if (word_.has_waiters()) notify(1);
  }
  /// Wakes all waiters, in the order in which they came. The caller may own the mutex or not. O(waiters).
  void notify_all() noexcept {
    core::in_order();
    if (word_.has_waiters()) notify(std::numeric_limits<std::ptrdiff_t>::max());
  }

  /// Unlocks the mutex, waits for a notification, and locks the mutex again.
  void wait(std::unique_lock<mutex>& lock);
  /// Waits until ready() is true. ready() is called with the mutex locked.
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }

  /// As wait, until `deadline`. timeout: that passed first.
  std::cv_status wait_until(std::unique_lock<mutex>& lock, std::chrono::steady_clock::time_point deadline);
  /// As above, by any clock.
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> deadline) {
    auto const notified = wait_until(lock, core::deadline_after(core::time_left(deadline))) == std::cv_status::no_timeout;
    // If that clock is slower than the steady one, this does not wait again: it has left the queue, and might have missed a notification.
    return notified || core::is_still_ahead(deadline) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout) {
    return wait_until(lock, core::deadline_after(timeout));
  }

  /// Waits until ready() is true, or until `deadline`. Returns the last ready(), at the deadline if that has passed.
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> deadline, Predicate ready) {
    while (!ready()) {
      if (wait_until(lock, deadline) == std::cv_status::timeout) return static_cast<bool>(ready());
    }
    return true;
  }
  /// As above, for a duration.
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout, Predicate ready) {
    return wait_until(lock, core::deadline_after(timeout), ready);
  }

 private:
  template <class T>
  friend class channel;
  template <class T>
  friend struct core::channel_selection;
  template <class T, class Derived>
  friend class core::channel_task;

  void wait_within(std::unique_lock<mutex>& lock, core::waits_for const& why);
  std::cv_status wait_until_within(std::unique_lock<mutex>& lock, core::time_point deadline, core::waits_for const& why);
  // For a task that waits without a stack. With the mutex locked; forget: after its time limit has passed.
  void watch_until(core::queued_waiter<core::timed_stack_waits>& w, core::timer_entry* limit) noexcept { word_.watch(w, limit); }
  void forget(core::queued_waiter<core::timed_stack_waits>& w) noexcept { word_.forget(w); }
  // For a select, which waits for several things. With the mutex locked.
  void watch(core::queued_waiter<core::timed_stack_waits>& w) noexcept { word_.watch(w); }
  bool unwatch(core::queued_waiter<core::timed_stack_waits>& w) noexcept { return word_.unwatch(w); }
  NOPAL_COLD void notify(std::ptrdiff_t most) noexcept;
  NOPAL_COLD void wait_for_expired() noexcept;

  core::basic_condition<core::timed_stack_waits, core::basic_mutex<core::stack_waits>> word_;
};

}  // namespace nopal
