#pragma once

// mutex: mutual exclusion for fibers, tasks, ordinary functions and threads. While one of them waits for it, the worker runs others. This
// header stays light: no scheduler. Next: core/wait/basic_mutex.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>

#include "nopal/core/base/in_order.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"

namespace nopal::inline NOPAL_ABI {

class condition_variable;

namespace core {

/// The owner of a mutex that is locked here: the native stack that runs here; off a pool, the thread. A multiple of 8.
inline std::uintptr_t self() noexcept {
  stack* const here = state_here()->here;
  return here != nullptr ? reinterpret_cast<std::uintptr_t>(here) : this_thread();
}
/// As self, for a caller that is about to lock `m`: from now on it counts for that stack.
inline std::uintptr_t self_locking(void const* m) noexcept {
  stack* const here = state_here()->here;
  if (here == nullptr) return this_thread();
  ++here->mutexes;
  here->last_mutex = m;
  return reinterpret_cast<std::uintptr_t>(here);
}
/// As self, for a caller that is about to unlock a mutex, or has not locked it after all.
inline std::uintptr_t self_unlocking() noexcept {
  stack* const here = state_here()->here;
  if (here == nullptr) return this_thread();
  --here->mutexes;
  return reinterpret_cast<std::uintptr_t>(here);
}

}  // namespace core

/// A mutex as std::mutex, for std::unique_lock, std::lock_guard and std::scoped_lock; it may be constinit. Locking and unlocking take one
/// read-modify-write each while no other waits; unlocking always takes O(1). Any thread may use it. The next owner sees what the last one
/// wrote.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps.
///
/// The mutex belongs to the native stack that has locked it, or off a pool to the thread; only its owner may unlock it. A function keeps
/// its stack through all forks and waits. A task may be resumed on another stack after a co_await, so it must not hold a mutex across one.
/// If one locks and another unlocks, use a semaphore{1}. A fiber, job or task that ends while it owns a mutex ends the program with a
/// message, since the mutex would belong to what runs on that stack next. The last owner may destroy the mutex as soon as it has unlocked
/// it. Destroying it while it is locked or waited for ends the program with a message.
class NOPAL_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex() {
    if (!word_.at_rest()) [[unlikely]]
      die_destroyed();
  }

  /// Locks it; waits while another owns it. Throws std::system_error (resource_deadlock_would_occur) if the caller owns it already: it
  /// would wait for itself.
  void lock() {
    core::in_order();
    if (std::uintptr_t seen; !word_.lock_if_free(core::self_locking(this), seen)) [[unlikely]]
      lock_slowly();
  }
  /// Locks it, if it is free. False: it is owned, perhaps by the caller. Never waits.
  bool try_lock() noexcept {
    core::in_order();
    std::uintptr_t seen;
    if (word_.lock_if_free(core::self_locking(this), seen) || (!word_.is_owned(seen) && try_lock_slowly())) return true;
    core::self_unlocking();
    return false;
  }
  /// Unlocks it, and wakes the first waiter. If the caller is not its owner, this ends the program with a message.
  void unlock() noexcept {
    core::in_order();
    std::uintptr_t const self = core::self_unlocking();
    if (!word_.unlock_if_alone(self)) [[unlikely]]
      unlock_slowly(self);
  }

 private:
  friend class condition_variable;

  NOPAL_COLD void lock_slowly();
  NOPAL_COLD bool try_lock_slowly() noexcept;
  NOPAL_COLD void unlock_slowly(std::uintptr_t self) noexcept;
  NOPAL_COLD void die_destroyed() noexcept;

  core::basic_mutex<core::stack_waits> word_;
};

}  // namespace nopal
