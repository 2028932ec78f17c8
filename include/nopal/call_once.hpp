#pragma once

// call_once: a function that runs once, called by the first caller, while the others wait for its end without blocking their threads. It is
// a word that says "done" and a mutex. docs/statics.md says where it must replace a function's static variable. Next: mutex.hpp.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <functional>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"

namespace nopal::inline NOPAL_ABI {

class once_flag;

template <class F, class... Args>
void call_once(once_flag& flag, F&& f, Args&&... args);

/// What call_once remembers: whether its function has returned. As std::once_flag: neither copied nor moved, made when the program is
/// loaded if it is static, and usable until the process ends, since its destructor does nothing.
class NOPAL_API once_flag {
 public:
  constexpr once_flag() noexcept = default;
  once_flag(once_flag const&) = delete;
  once_flag& operator=(once_flag const&) = delete;

 private:
  template <class F, class... Args>
  friend void call_once(once_flag& flag, F&& f, Args&&... args);

  /// The caller's turn to call the function. Its end passes the turn to the next waiter, unless the function has returned.
  class NOPAL_API turn {
   public:
    NOPAL_COLD explicit turn(once_flag& flag);
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    NOPAL_COLD ~turn();
    /// True if the function must still be called. It may have returned while the caller waited. relaxed: the mutex orders it.
    bool is_needed() const noexcept { return !flag_.done_.load(std::memory_order_relaxed); }
    /// The function has returned. release: pairs with is_done, for what the function has written.
    void returned() const noexcept {
      core::in_order();
      flag_.done_.store(true, std::memory_order_release);
    }

   private:
    once_flag& flag_;
  };

  /// acquire: pairs with the store in turn::returned
  bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }

  std::atomic<bool> done_{false};
  core::basic_mutex<core::stack_waits> mutex_;  // owned by the caller that runs the function
};

/// As std::call_once: calls f(args...) unless a call with this flag has returned, and returns after that one. While one caller runs its
/// function, the others wait. If the function throws, its caller gets the exception, and the next waiter calls its own function. Any
/// thread. One load once the function has returned.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps. So the function may fork, lock, and wait for fibers, as the initialiser of a static variable may not.
///
/// Throws std::system_error (resource_deadlock_would_occur) if the function itself calls call_once with the same flag: it would wait for
/// its own end. Nor may what it forks or spawns and waits for: that would wait for ever, as any two that wait for each other.
///
///     static nopal::once_flag read;
///     nopal::call_once(read, [] { settings = nopal::sync_wait(read_settings); });
template <class F, class... Args>
void call_once(once_flag& flag, F&& f, Args&&... args) {
  core::in_order();
  if (flag.is_done()) [[likely]]
    return;
  once_flag::turn const mine{flag};
  if (!mine.is_needed()) return;
  static_cast<void>(std::invoke(std::forward<F>(f), std::forward<Args>(args)...));
  mine.returned();
}

}  // namespace nopal
