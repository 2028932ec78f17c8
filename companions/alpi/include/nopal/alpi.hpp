#pragma once

// Tasks for ALPI (alpi.h), the interface through which TAMPI and others make a runtime's tasks wait for MPI. Such a task is a fiber that
// has begun here, or by alpi_task_spawn: what runs on its native stack is the task, and what it forks to another stack is not. Next:
// ../../src/alpi.cpp, what a task has.

#include "nopal/core/compiler/config.hpp"

#include <type_traits>
#include <utility>

#include "nopal/after.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

struct alpi_task;

namespace nopal::inline NOPAL_ABI::alpi {

/// The pool that runs ALPI's tasks.
NOPAL_API pool& pool_of_tasks();
/// From now on `p` runs ALPI's tasks, instead of default_pool(); it must outlive them. Throws std::logic_error while there is a task: workers
/// of two pools would have the same numbers.
NOPAL_API void use(pool& p);
void use(pool&&) = delete;  // its workers would end at once
/// From now on default_pool() runs them again. Throws as use.
NOPAL_API void use_default_pool();

/// A task before it runs, and the right to run its body once. Counted in a counter until it has completed.
class NOPAL_API body {
 public:
  /// Counts `c` up. Throws std::bad_alloc.
  explicit body(counter& c);
  body(body&& from) noexcept : task_{std::exchange(from.task_, nullptr)} {}
  body& operator=(body&&) = delete;
  ~body();  // a task that has not run completes

  /// Runs f() as the task, and again if that calls alpi_task_suspend.
  template <class F>
  void run(F& f) {
    do {
      inside const here{*this};
      f();
    } while (runs_again());
  }

 private:
  class NOPAL_API inside {
   public:
    explicit inside(body& b);
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside();

   private:
    alpi_task& task_;
  };
  bool runs_again();

  alpi_task* task_;
};

/// Spawns a fiber that is a task and runs f(). `c` counts it: up now, and down when it has completed, that is when f has returned and all
/// events of the task are fulfilled. An exception of f goes to whoever waits for `c`. Throws std::bad_alloc.
template <class F>
void spawn(counter& c, F&& f) {
  pool_of_tasks().spawn(c, [b = body{c}, f = std::decay_t<F>(static_cast<F&&>(f))]() mutable { b.run(f); });
}
/// As spawn(c, f), but the task begins when all of `d` have ended: after.hpp.
template <class F>
void spawn(dependencies d, counter& c, F&& f) {
  pool_of_tasks().spawn(std::move(d), c, [b = body{c}, f = std::decay_t<F>(static_cast<F&&>(f))]() mutable { b.run(f); });
}
/// Runs f() as a task, and returns when it has completed. For a program's main, which calls MPI_Init_thread and MPI_Finalize in it. Throws
/// what f throws, and std::bad_alloc.
template <class F>
void run(F&& f) {
  counter completed;
  alpi::spawn(completed, [&f] { f(); });
  without_stop([&] { wait_for(completed); });
}

}  // namespace nopal::alpi
