#pragma once

// What the loop does with a task that waits without a stack. By the worker that owns the task.

#include <exception>
#include <utility>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/waiting_task.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct waiting_task_access {
  static frame& task(waiting_task& t) noexcept { return t.task_; }
  static stacklet* arena(waiting_task& t) noexcept { return t.arena_; }
  static orphan_memory& memory(waiting_task& t) noexcept { return t.memory_; }
  static bool step(waiting_task& t, bool woken) noexcept { return t.step_(t, woken); }
  static std::exception_ptr take_error(waiting_task& t) noexcept { return std::exchange(t.error, nullptr); }
  /// `w` leaves the task, which takes its arena along.
  static void leaves(waiting_task& t, worker& w, stacklet* arena) noexcept {
    t.arena_ = arena;
    t.pool_ = &w.pool();
    t.left_by_ = w.index();
    t.is_high_ = w.region != no_region && priority_in(w.region) == priority::high;
  }
};

}  // namespace nopal::core
