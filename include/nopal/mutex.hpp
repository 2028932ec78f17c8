#pragma once

// mutex: mutual exclusion for fibers, tasks, ordinary functions and threads. Whoever waits for it leaves the worker to others.

#include <atomic>
#include <cstdint>

#include "nopal/core/config.hpp"
#include "nopal/core/thread.hpp"
#include "nopal/core/wait_queue.hpp"

namespace nopal {

class condition_variable;

namespace core {

struct mutex_waiter : queued_waiter {
  std::uintptr_t self;  ///< who will own it
  unsigned woken = 0;   ///< how often, to find it locked again but for the last time
  bool owns = false;    ///< it was handed over
  explicit mutex_waiter(std::uintptr_t who) noexcept : self{who} {}
};

/// An address that is this thread's own. Out of line: a compiler could keep it where a stack goes on on another thread.
std::uintptr_t this_thread() noexcept;

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
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex() {
    // acquire: pairs with the last unlock
    if (word_.load(std::memory_order_acquire) != 0) [[unlikely]] die_destroyed();
  }

  /// Waits its turn. Throws std::system_error (resource_deadlock_would_occur) if this stack or thread has it: it would wait for itself.
  void lock() {
    std::uintptr_t free = 0;
    // acquire: pairs with unlock
    if (!word_.compare_exchange_strong(free, core::self(), std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]] {
      lock_slowly();
    }
  }
  /// False: somebody has it, perhaps the caller. Never waits.
  bool try_lock() noexcept {
    std::uintptr_t w = 0;
    // acquire: pairs with unlock
    if (word_.compare_exchange_strong(w, core::self(), std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return (w & owner) == 0 && try_lock_slowly();
  }
  /// Wakes one that waits. By whoever has locked it: otherwise it ends the program with a message.
  void unlock() noexcept { unlock_for(core::self()); }

 private:
  friend class condition_variable;

  // What is neither 0 nor a bare owner is changed under the lock bit only.
  // | who owns it, or 0 | on_its_way 4 | waited_for 2 | locked 1 |
  static constexpr std::uintptr_t locked = 1;      ///< somebody is at the queue: short
  static constexpr std::uintptr_t waited_for = 2;  ///< the queue is not empty
  static constexpr std::uintptr_t on_its_way = 4;  ///< a waiter was woken and has not come yet: no second one need be woken
  static constexpr std::uintptr_t owner = ~std::uintptr_t{7};

  /// `who` runs here, or has just left its stack.
  void unlock_for(std::uintptr_t who) noexcept {
    std::uintptr_t w = who;
    // release: pairs with lock. The last touch, as is that of unlock_slowly: the next owner may unlock and destroy it.
    if (!word_.compare_exchange_strong(w, 0, std::memory_order_release, std::memory_order_relaxed)) [[unlikely]] unlock_slowly(who);
  }
  NOPAL_COLD void lock_slowly();
  /// Also where the caller is about to unlock it, on another stack.
  void lock_in_turn() noexcept;
  NOPAL_COLD bool try_lock_slowly() noexcept;
  NOPAL_COLD void unlock_slowly(std::uintptr_t who) noexcept;
  [[noreturn]] NOPAL_COLD void die_destroyed() noexcept;
  /// `w` with `me` for its owner.
  static std::uintptr_t owned_by(core::mutex_waiter const& me, std::uintptr_t w) noexcept {
    return (me.woken != 0 ? w & ~on_its_way : w) | me.self;
  }
  bool take(core::mutex_waiter const& me) noexcept;
  bool enqueue(core::mutex_waiter& me) noexcept;

  std::atomic<std::uintptr_t> word_{0};
  core::wait_queue waiters_;
};

}  // namespace nopal
