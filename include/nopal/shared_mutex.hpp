#pragma once

// shared_mutex: one writer, or any number of readers. Next: core/wait/basic_mutex.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

/// A mutex as std::shared_timed_mutex, for std::unique_lock, std::shared_lock and std::scoped_lock; it may be constinit. Locking and
/// unlocking take one read-modify-write each while none waits. Any fiber, task, function or thread may use it. A writer sees what all
/// before it wrote, and a reader what all writers before it wrote.
///
/// First come, first served: a reader that comes while a writer waits, waits behind it, and the readers between two writers read at the
/// same time. So neither starves; and a reader must not lock it once more to read, since a writer may wait in between. When it is unlocked
/// it belongs at once to the first waiter. If only one at a time uses it, with many waiting, nopal::mutex is faster.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps. lock and lock_shared do not end early by a request to stop (stop.hpp).
///
/// It has no owner: one may lock and another unlock, and a task may hold it across a co_await. So a caller that waits for itself gets no
/// exception. The last that has it may destroy it as soon as it has unlocked it. Destroying it while it is locked or waited for, and
/// unlocking it when it is not locked, ends the program with a message.
class NOPAL_API shared_mutex {
  using word = core::basic_shared_mutex<core::timed_stack_waits>;
  using share = word::share;

 public:
  constexpr shared_mutex() noexcept = default;
  shared_mutex(shared_mutex const&) = delete;
  shared_mutex& operator=(shared_mutex const&) = delete;
  ~shared_mutex() {
    if (!word_.at_rest()) [[unlikely]]
      die_destroyed();
  }

  /// Locks it to write; waits while another has it.
  void lock() {
    core::in_order();
    if (!word_.lock_if_free(share::write)) [[unlikely]]
      lock_slowly(share::write);
  }
  /// Locks it to write, if no other has it or waits for it. Never waits.
  bool try_lock() noexcept {
    core::in_order();
    return word_.lock_if_free(share::write) || try_lock_slowly(share::write);
  }
  /// Locks it to write; waits until `deadline`, by any clock. False: that passed first. Throws std::bad_alloc, or std::system_error if the
  /// thread that serves time limits cannot be started, nopal::stopped if the caller is asked to stop (stop.hpp); then it is not locked.
  template <class Clock, class Duration>
  bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
    return lock_by(share::write, deadline);
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return lock_until(share::write, core::deadline_after(timeout));
  }
  /// Unlocks it, and wakes the writer or the readers that have it next, in O(waiters woken).
  void unlock() noexcept {
    core::in_order();
    if (!word_.unlock_if_alone(share::write)) [[unlikely]]
      unlock_slowly(share::write);
  }

  /// Locks it to read; waits while a writer has it, or waits for it since before.
  void lock_shared() {
    core::in_order();
    if (!word_.lock_if_free(share::read)) [[unlikely]]
      lock_slowly(share::read);
  }
  /// Locks it to read, if no writer has it and none waits for it. Never waits.
  bool try_lock_shared() noexcept {
    core::in_order();
    return word_.lock_if_free(share::read) || try_lock_slowly(share::read);
  }
  /// As try_lock_until, to read.
  template <class Clock, class Duration>
  bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline) {
    return lock_by(share::read, deadline);
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> timeout) {
    return lock_until(share::read, core::deadline_after(timeout));
  }
  /// Unlocks it for one reader; the last wakes the waiting writer.
  void unlock_shared() noexcept {
    core::in_order();
    if (!word_.unlock_if_alone(share::read)) [[unlikely]]
      unlock_slowly(share::read);
  }

 private:
  template <class Clock, class Duration>
  bool lock_by(share s, std::chrono::time_point<Clock, Duration> deadline) {
    return core::by_clock(deadline, [&](core::time_point t) { return lock_until(s, t); });
  }
  bool lock_until(share s, core::time_point deadline);
  NOPAL_COLD void lock_slowly(share s) noexcept;
  NOPAL_COLD bool try_lock_slowly(share s) noexcept;
  NOPAL_COLD void unlock_slowly(share s) noexcept;
  NOPAL_COLD void die_destroyed() noexcept;

  word word_;
};

}  // namespace nopal
