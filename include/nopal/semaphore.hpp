#pragma once

// semaphore: a number of permits, which any fiber, task, function or thread gives and takes. Next: core/wait/basic_semaphore.hpp, the
// protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/task/waiting_task.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

class semaphore;

namespace core {

/// What semaphore::acquire returns: pending_call.
class acquiring : public pending_call {
 public:
  acquiring() noexcept = default;
  ~acquiring() noexcept(false) {
    if (must_end()) [[unlikely]]
      finish(*semaphore_);
  }

  template <class Frame, class Awaiter = task_waits_for<acquiring>>
  Awaiter in(Frame& f) && {
    return {*this, f};
  }

 private:
  friend class nopal::semaphore;
  template <class Call>
  friend class task_waits_for;
  NOPAL_API NOPAL_COLD static void finish(semaphore& s);

  semaphore* semaphore_ = nullptr;
};

}  // namespace core

/// A semaphore as std::counting_semaphore. Permits go to waiters, first come, first served. Each operation takes one read-modify-write
/// while no other waits. Any thread may use it. A thread that acquires a permit sees what came before its release.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps.
///
/// A thread that has acquired the last permit may destroy it. Destroying it while a thread waits for it ends the program with a message.
class NOPAL_API semaphore {
 public:
  /// A semaphore with `n` permits. Throws std::invalid_argument if `n` is negative or more than max().
  explicit semaphore(std::ptrdiff_t n);
  semaphore(semaphore const&) = delete;
  semaphore& operator=(semaphore const&) = delete;
  ~semaphore() {
    if (!word_.at_rest()) [[unlikely]]
      check_destroyed();
  }

  /// The most permits that a semaphore holds.
  static constexpr std::ptrdiff_t max() noexcept { return core::basic_semaphore<core::timed_stack_waits>::max(); }

  /// Takes a permit; waits until there is one. In a task `co_await s.acquire()` waits without a native stack. Called without arguments.
  core::acquiring&& acquire(core::acquiring&& call NOPAL_LIFETIMEBOUND = {}) {
    call.semaphore_ = this;
    if (!try_acquire() && acquire_slowly()) call.begin();
    return std::move(call);
  }
  /// Takes a permit, if there is one. False: there is none. Never waits.
  bool try_acquire() noexcept {
    core::in_order();
    return word_.try_acquire([this]() noexcept { return try_acquire_slowly(); });
  }
  /// Takes a permit; waits until there is one, or until `deadline`. False: that passed first. Throws std::bad_alloc, or std::system_error
  /// if the thread that serves time limits cannot be started, nopal::stopped if the caller is asked to stop (stop.hpp); then no permit is
  /// taken.
  bool try_acquire_until(std::chrono::steady_clock::time_point deadline);
  /// As above, by any clock.
  template <class Clock, class Duration>
  bool try_acquire_until(std::chrono::time_point<Clock, Duration> deadline) {
    return core::by_clock(deadline, [this](std::chrono::steady_clock::time_point t) { return try_acquire_until(t); });
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> timeout) {
    return try_acquire_until(core::deadline_after(timeout));
  }

  /// Gives `n` permits: first to waiters, in O(waiters), the rest to later callers. Throws std::invalid_argument if `n` is negative, or
  /// std::overflow_error if there would be more than max() permits; then nothing has changed.
  void release(std::ptrdiff_t n = 1) {
    core::in_order();
    if (!word_.release_if_quiet(n)) release_slowly(n);
  }

 private:
  friend class core::acquiring;
  template <class Call>
  friend class core::task_waits_for;

  // True: the caller is a task, perhaps, and has to wait.
  NOPAL_COLD bool acquire_slowly() noexcept;
  NOPAL_COLD bool try_acquire_slowly() noexcept;
  NOPAL_COLD void release_slowly(std::ptrdiff_t n);
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_semaphore<core::timed_stack_waits> word_;
};

namespace core {

/// `co_await s.acquire()`.
template <>
class NOPAL_API task_waits_for<acquiring> final : public parks<task_waits_for<acquiring>> {
 public:
  task_waits_for(acquiring& call, frame& f) noexcept
      : parks{f, {"a semaphore", &call.semaphore_->word_}}, semaphore_{*call.semaphore_}, me_{*this}, has_it_{!call.is_pending()} {
    call.end();
  }
  bool await_ready() const noexcept { return has_it_; }
  void await_resume() { rethrow_if_failed(); }

 private:
  friend class parks<task_waits_for>;
  using word = basic_semaphore<timed_stack_waits>;
  bool waits(bool woken) { return !woken && semaphore_.word_.watch(me_); }
  void wait_here() { semaphore_.word_.acquire_slowly(); }

  semaphore& semaphore_;
  task_node<word::node> me_;
  bool const has_it_;
};

}  // namespace core

}  // namespace nopal
