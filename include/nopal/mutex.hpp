#pragma once

// mutex: mutual exclusion for fibers, tasks, ordinary functions and threads. While one of them waits for it, the worker runs others. This
// header stays light: no scheduler. Next: core/wait/basic_mutex.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/task/waiting_task.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"

namespace nopal::inline NOPAL_ABI {

class condition_variable;
class mutex;

namespace core {

/// What mutex::lock returns: pending_call.
class locking : public pending_call {
 public:
  locking() noexcept = default;
  ~locking() noexcept(false) {
    if (must_end()) [[unlikely]]
      finish(*mutex_);
  }

  template <class Frame, class Awaiter = task_waits_for<locking>>
  Awaiter in(Frame& f) && {
    return {*this, f};
  }

 private:
  friend class nopal::mutex;
  template <class Call>
  friend class task_waits_for;
  NOPAL_API NOPAL_COLD static void finish(mutex& m);

  mutex* mutex_ = nullptr;
};

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
  ///
  /// In a task `auto held = co_await m.lock();` waits without a native stack. Then the mutex belongs to the task, until `held` ends or
  /// calls unlock(), also over other co_awaits; held is a nopal::held_mutex. Called without arguments.
  core::locking&& lock(core::locking&& call NOPAL_LIFETIMEBOUND = {}) {
    core::in_order();
    call.mutex_ = this;
    if (std::uintptr_t seen; !word_.lock_if_free(core::self_locking(this), seen)) [[unlikely]] {
      if (lock_slowly()) call.begin();
    }
    return std::move(call);
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

  friend class core::locking;
  friend class held_mutex;
  template <class Call>
  friend class core::task_waits_for;

  // True: the caller is a task, perhaps, and has to wait.
  NOPAL_COLD bool lock_slowly();
  NOPAL_COLD void lock_here();
  NOPAL_COLD bool try_lock_slowly() noexcept;
  NOPAL_COLD void unlock_slowly(std::uintptr_t self) noexcept;
  NOPAL_COLD void die_destroyed() noexcept;

  core::basic_mutex<core::stack_waits> word_;
};

/// What `co_await m.lock()` gives a task: the mutex is the task's until this ends. It may be moved, and may live over other co_awaits of
/// that task. Used by the task that has got it.
class [[nodiscard("nopal: the mutex is unlocked at once; write auto held = co_await m.lock();")]] held_mutex {
 public:
  held_mutex(held_mutex&& from) noexcept : mutex_{std::exchange(from.mutex_, nullptr)}, owner_{from.owner_} {}
  held_mutex& operator=(held_mutex&& from) noexcept {
    if (this != &from) {
      unlock();
      mutex_ = std::exchange(from.mutex_, nullptr);
      owner_ = from.owner_;
    }
    return *this;
  }
  ~held_mutex() { unlock(); }

  /// Unlocks it now, unless it was unlocked before.
  void unlock() noexcept {
    if (mutex* const m = std::exchange(mutex_, nullptr); m != nullptr) {
      core::in_order();
      m->word_.unlock(owner_);
    }
  }
  bool owns_lock() const noexcept { return mutex_ != nullptr; }

 private:
  template <class Call>
  friend class core::task_waits_for;
  held_mutex(mutex& m, std::uintptr_t owner) noexcept : mutex_{&m}, owner_{owner} {}

  mutex* mutex_;
  std::uintptr_t owner_;
};

namespace core {

/// `co_await m.lock()`. The task is the owner, by its frame's address.
template <>
class NOPAL_API task_waits_for<locking> final : public parks<task_waits_for<locking>> {
 public:
  task_waits_for(locking& call, frame& f) noexcept
      : parks{f, {"a mutex", &call.mutex_->word_, wait_kind::mutex}},
        mutex_{*call.mutex_},
        me_{*this, task_as_owner()},
        has_it_{!call.is_pending()} {
    call.end();
  }
  bool await_ready() noexcept {
    if (has_it_) {
      mutex_.word_.hand_to(task_as_owner());
      self_unlocking();
    }
    return has_it_;
  }
  held_mutex await_resume() {
    rethrow_if_failed();
    return {mutex_, task_as_owner()};
  }

 private:
  friend class parks<task_waits_for>;
  using word = basic_mutex<stack_waits>;
  bool waits(bool woken);
  void wait_here();

  mutex& mutex_;
  task_node<word::waiter> me_;
  bool const has_it_;
};

}  // namespace core

}  // namespace nopal
