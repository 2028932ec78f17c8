#pragma once

// What the loop does with a task that waits without a stack. By the worker that owns the task.

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "nopal/core/base/coarse_clock.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/task/waiting_task.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct waiting_task_access {
  static frame& task(waiting_task& t) noexcept { return t.task_; }
  static stacklet* arena(waiting_task& t) noexcept { return t.arena_; }
  /// For the ancestors of the task. From begin_memory until end_memory.
  static orphan_memory& memory(waiting_task& t) noexcept { return *std::launder(reinterpret_cast<orphan_memory*>(t.memory_)); }
  static orphan_memory& begin_memory(waiting_task& t) noexcept {
    static_assert(sizeof(orphan_memory) <= sizeof t.memory_ && alignof(orphan_memory) <= 8);
    return *::new (static_cast<void*>(t.memory_)) orphan_memory;
  }
  static void end_memory(waiting_task& t) noexcept { std::destroy_at(&memory(t)); }
  static bool step(waiting_task& t, bool woken) noexcept { return t.step_(t, woken); }
  static std::exception_ptr take_error(waiting_task& t) noexcept { return std::exchange(t.error, nullptr); }
  /// `w` leaves the task, which takes its arena along. `continues` is called once it need not wait any more. Reports list the task until
  /// `unlist`.
  static void leaves(waiting_task& t, worker& w, stacklet* arena, resumable::run_function continues) noexcept {
    t.run = continues;
    t.arena_ = arena;
    t.pool_ = &w.pool();
    t.left_by_ = w.index();
    t.is_high_ = w.region != no_region && priority_in(w.region) == priority::high;
    t.listed_.task = &t.task_;
    t.listed_.function = t.task_.resume_function;
    t.listed_.since = coarse_now();
    t.pool_->tasks_that_wait.enter(t.left_by_, t.listed_);
  }
  /// The task need not wait any more, and is about to continue.
  static void unlist(waiting_task& t) noexcept { t.pool_->tasks_that_wait.leave(t.left_by_, t.listed_); }
};

}  // namespace nopal::core
