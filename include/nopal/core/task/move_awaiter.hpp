#pragma once

// What `co_await resume_on(...)` awaits. Called by the worker that runs the task, until it suspends; afterwards by the worker that the task
// has moved to. Next: move_request.hpp, what is sent; slow_path.hpp, whose move_task requests it.

#include <coroutine>
#include <exception>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/move_request.hpp"
#include "nopal/core/task/slow_path.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
