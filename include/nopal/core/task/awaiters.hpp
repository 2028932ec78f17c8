#pragma once

// What a task awaits that is no fork: its join, a called child, and anything that it waits for on its native stack. Called by the worker
// that runs the task. Next: promise.hpp, which returns these; slow_path.hpp, where something was stolen or thrown.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/task/waiting_task.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct join_tag {
  explicit join_tag() = default;
  template <class... A>
  auto operator()(A&&...) const {
    static_assert(sizeof...(A) > 1000, "nopal: join is not a function. Write co_await nopal::join, without parentheses.");
    return join_tag{};
  }
};

/// The base of an awaiter that is the promise itself, so that it needs no place in the coroutine's frame.
struct frame_awaiter {
  NOPAL_INLINE frame& self() noexcept { return *reinterpret_cast<frame*>(reinterpret_cast<std::byte*>(this) - 2 * sizeof(void*)); }
};

/// Awaits a task's join: continues at once if nothing of the scope was stolen or thrown.
struct join_awaiter : frame_awaiter {
  NOPAL_INLINE bool await_ready() noexcept {
    frame& f = self();
    if (f.state > frame::open) [[unlikely]]
      return false;
    f.state = 0;
    return true;
  }
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<>) {
    if (join_task_or_throw(*current(), &self())) return true;
    // So that await_resume's check is compiled only for tasks that the loop resumes: it would cost 8 instructions a fork.
    if (self().state != 0) __builtin_unreachable();
    return false;
  }
  NOPAL_INLINE void await_resume() {
    if (self().state != 0) [[unlikely]]
      rethrow_into_task(*current());
  }
};

/// Awaits a called child, which has run before await_ready is called, as a nested native call. The parent suspends only if that child had
/// to be left suspended, or has thrown.
struct call_awaiter {
  bool disturbed = false;  // so that await_resume's check is compiled only for tasks of which await_suspend was called
  NOPAL_INLINE bool await_ready() const noexcept { return current()->undisturbed(); }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> h) {
    disturbed = true;
    return called_returned(*current(), static_cast<frame*>(h.address()));
  }
  NOPAL_INLINE void await_resume() const {
    if (disturbed && current()->must_throw()) [[unlikely]]
      rethrow_into_task(*current());
  }
};

/// Awaits by waiting on the task's native stack, also between fork and join. An exception of the wait is handled as a called child's: the
/// task waits until all children that it has forked have ended, and rethrows the exception that serial execution would have met first.
class stack_awaiter : public awaitable_tag {
 public:
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<>) const noexcept { return join_task(*current(), &task_); }

 protected:
  explicit stack_awaiter(frame& task) noexcept : task_{task} {}
  /// Runs `f`, which waits: for await_ready. False: it has thrown, and children may run, so that the task must suspend at its join. Outside
  /// a scope, what `f` throws propagates directly.
  template <class F>
  bool wait(F f) {
    if ((task_.state & frame::open) == 0) {
      f();
      return true;
    }
    try {
      f();
      return true;
    } catch (...) {
      task_.record(task_.steals(), core::caught());
    }
    task_.state |= frame::thrown;
    failed_ = true;
    return false;
  }
  void rethrow_if_failed() const {
    if (failed_) [[unlikely]]
      rethrow_into_task(*current());
  }

 private:
  frame& task_;
  bool failed_ = false;
};

// What `co_await resume_on(...)` awaits. Called by the worker that runs the task, until it suspends; afterwards by the worker that the task
// has moved to. Next: slow_path.hpp: what is sent, and move_task, which requests it.

/// The error for resume_on between fork and join: std::logic_error, which names the function.
NOPAL_API std::exception_ptr move_misuse() noexcept;

/// Moves the awaiting task to one worker. Throws, in the task, std::bad_alloc; between fork and join what move_misuse returns. The task has
/// not moved then.
struct move_awaiter : awaitable_tag, move_request {
  explicit move_awaiter(worker& target) noexcept { to = &target; }
  move_awaiter in(frame& f) noexcept {
    task = &f;
    return std::move(*this);
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise>) {
    if ((task->state & frame::open) != 0) return fail_task(*current(), task, move_misuse());
    return move_task(*current(), *this);
  }
  void await_resume() const {
    if (current()->must_throw()) [[unlikely]]
      rethrow_into_task(*current());
  }
};

}  // namespace nopal::core
