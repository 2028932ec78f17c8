#pragma once

// What `co_await resume_on(...)` awaits. Next: move_request.hpp; cold_path.hpp, move_task.

#include <coroutine>
#include <exception>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/cold_path.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/move_request.hpp"

namespace nopal::core {

/// The error for resume_on between fork and join.
NOPAL_API std::exception_ptr move_misuse() noexcept;

/// Moves the awaiting task to one worker.
struct move_awaiter : awaitable_tag, move_request {
  explicit move_awaiter(worker& target) noexcept { to = &target; }
  move_awaiter in(frame& f) noexcept {
    task = &f;
    return std::move(*this);
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise>) {
    if ((task->state & frame::open) != 0) return fail_task(*current(), task, move_misuse());
    return move_task(*current(), *this);
  }
  void await_resume() const {
    if (current()->must_throw()) [[unlikely]] rethrow_into_task(*current());
  }
};

}  // namespace nopal::core
