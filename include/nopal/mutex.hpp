#pragma once

// mutex: mutual exclusion for fibers, tasks, ordinary functions and threads. Whoever waits for it leaves the worker to others.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>

#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/wait/await_wake.hpp"

namespace nopal {

class condition_variable;

namespace core {

/// Who runs here: the native stack, on whatever worker; off a pool the thread. A multiple of 8.
inline std::uintptr_t self() noexcept {
  stack* const here = state_here()->here;
  return here != nullptr ? reinterpret_cast<std::uintptr_t>(here) : this_thread();
}

}  // namespace core

/// As std::mutex, for std::unique_lock, std::lock_guard, std::scoped_lock; it may be constinit. Locking and unlocking cost one
/// read-modify-write each while nobody waits. Whoever waits parks: the fiber, task or function leaves its native stack, a thread that
/// works for no pool sleeps. Any thread may use it; the unlocker's writes are seen by the next who locks.
///
/// It belongs to the native stack that has locked it, or to the thread off a pool, which alone unlocks it. A function keeps its stack
/// whatever it forks or waits for; a task may go on on another one after a co_await, so it must not hold a mutex across that. What one
/// locks and another unlocks is a semaphore{1}. It may be destroyed by whoever locked it last, as soon as it is unlocked; destroyed
/// while locked or waited for, it ends the program with a message.
class NOPAL_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex() {
    if (!word_.at_rest()) [[unlikely]] die_destroyed();
  }

  /// Waits its turn. Throws std::system_error (resource_deadlock_would_occur) if this stack or thread has it: it would wait for itself.
  void lock() {
    if (std::uintptr_t seen; !word_.lock_if_free(core::self(), seen)) [[unlikely]] lock_slowly();
  }
  /// False: somebody has it, perhaps the caller. Never waits.
  bool try_lock() noexcept {
    std::uintptr_t seen;
    return word_.lock_if_free(core::self(), seen) || (!word_.is_owned(seen) && try_lock_slowly());
  }
  /// Wakes one that waits. By whoever has locked it: otherwise it ends the program with a message.
  void unlock() noexcept {
    std::uintptr_t const self = core::self();
    if (!word_.unlock_if_alone(self)) [[unlikely]] unlock_slowly(self);
  }

 private:
  friend class condition_variable;

  NOPAL_COLD void lock_slowly();
  NOPAL_COLD bool try_lock_slowly() noexcept;
  NOPAL_COLD void unlock_slowly(std::uintptr_t self) noexcept;
  [[noreturn]] NOPAL_COLD void die_destroyed() noexcept;

  core::basic_mutex<core::stack_waits> word_;
};

}  // namespace nopal
