#pragma once

// timed_mutex: a mutex that can be waited for with a time limit. It is a semaphore of one permit that knows its owner. Next: mutex.hpp, the
// faster one without time limits; core/wait/basic_semaphore.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/mutex.hpp"

namespace nopal::inline NOPAL_ABI {

/// A mutex as std::timed_mutex, for std::unique_lock and std::lock_guard. Its owner, its waits and what ends the program are as for
/// nopal::mutex. But it goes at once to the longest waiter: if many wait and none needs a time limit, nopal::mutex is faster.
class NOPAL_API timed_mutex {
 public:
  timed_mutex() noexcept : word_{1} {}
  timed_mutex(timed_mutex const&) = delete;
  timed_mutex& operator=(timed_mutex const&) = delete;
  ~timed_mutex() {
    // relaxed: the destroyer was the last owner, or learned of the last unlock by other means
    if (!word_.at_rest() || owner_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      check_destroyed();
  }

  /// Locks it; waits while another owns it. Throws std::system_error (resource_deadlock_would_occur) if the caller owns it already.
  void lock();
  /// Locks it, if it is free. Never waits.
  bool try_lock() noexcept;
  /// Locks it; waits until `deadline`, by any clock. False: that passed first. Throws std::system_error (resource_deadlock_would_occur) if
  /// the caller owns it already; std::bad_alloc, or std::system_error if the thread that serves time limits cannot be started;
  /// nopal::stopped if the caller is asked to stop (stop.hpp). Then it is not locked once more.
  template <class Clock, class Duration>
  bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
    return core::by_clock(deadline, [this](core::time_point t) { return lock_until(t); });
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
    return lock_until(core::deadline_after(timeout));
  }
  /// Unlocks it; then it belongs to the first waiter. If the caller is not its owner, this ends the program with a message.
  void unlock() noexcept;

 private:
  bool acquire_if_free() noexcept;
  void is_mine() noexcept;
  void throw_if_mine() const;
  bool lock_until(core::time_point deadline);
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_semaphore<core::timed_stack_waits> word_;
  std::atomic<std::uintptr_t> owner_{0};  ///< exact for the caller only, which has written it if it is the owner
};

}  // namespace nopal
