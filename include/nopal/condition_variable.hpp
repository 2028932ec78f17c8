#pragma once

// condition_variable: waits for a notification, with a mutex that is locked before and after, but not meanwhile.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>

#include "nopal/core/wait/basic_condition.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/mutex.hpp"

namespace nopal {

template <class T>
class channel;

/// As std::condition_variable, with a nopal::mutex; it may be constinit. Whoever waits parks: the fiber, task or function leaves its
/// native stack, a thread that works for no pool sleeps. Any thread may use it, and nothing that is notified after the waiter has
/// released the mutex is missed. It wakes nobody that was not notified, but the condition may have changed again when the mutex is
/// locked: wait with a predicate.
///
/// Every wait throws std::system_error (operation_not_permitted) if `lock` owns no mutex; one with a time limit also std::bad_alloc, and
/// std::system_error where there is no thread for time limits. The mutex is locked whenever a wait returns or throws. It may be
/// destroyed once all that wait are notified, even before they have returned; earlier, it ends the program with a message.
class NOPAL_API condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(condition_variable const&) = delete;
  condition_variable& operator=(condition_variable const&) = delete;
  ~condition_variable() {
    if (!word_.at_rest()) [[unlikely]] wait_for_expired();
  }

  /// Wakes the one that has waited longest, if anybody waits. With or without the mutex.
  void notify_one() noexcept {
    if (word_.has_waiters()) notify(1);
  }
  /// Wakes all that wait, first come, first woken.
  void notify_all() noexcept {
    if (word_.has_waiters()) notify(std::numeric_limits<std::ptrdiff_t>::max());
  }

  void wait(std::unique_lock<mutex>& lock);
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }

  std::cv_status wait_until(std::unique_lock<mutex>& lock, core::time_point limit);
  /// By whatever clock.
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> limit) {
    auto const notified = wait_until(lock, core::deadline_after(core::time_left(limit))) == std::cv_status::no_timeout;
    // Where the clocks differ, it does not wait again: it has left the queue, and might miss a notification.
    return notified || core::time_left(limit).count() > 0 ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout) {
    return wait_until(lock, core::deadline_after(timeout));
  }

  /// Returns ready(), which is asked at last when the time has come.
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> limit, Predicate ready) {
    while (!ready()) {
      if (wait_until(lock, limit) == std::cv_status::timeout) return ready();
    }
    return true;
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> timeout, Predicate ready) {
    return wait_until(lock, core::deadline_after(timeout), ready);
  }

 private:
  template <class T>
  friend class channel;

  void wait_within(std::unique_lock<mutex>& lock, core::waits_for const& why);
  NOPAL_COLD void notify(std::ptrdiff_t most) noexcept;
  NOPAL_COLD void wait_for_expired() noexcept;

  core::basic_condition<core::stack_waits> word_;
};

}  // namespace nopal
