#pragma once

// A task of ALPI's: a fiber with events, which hold its completion back, and with waits that anybody may end. Who finds it: current_task,
// by the native stack on which the caller runs. Next: alpi.cpp, the functions of alpi.h.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "alpi.h"
#include "nopal/counter.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"

namespace nopal::inline NOPAL_ABI::core {
class stack;
}

/// It completes once: where the word becomes 0, by the body's end or by the last event. One reference is there until then, and one more for
/// each thread that wakes the task and is not back from there: the task may have completed and ended by then.
struct alpi_task {
  /// Counts `c`, if that is not null, up. `done`, if not null, is called with `with` when the task has completed. Throws std::bad_alloc.
  alpi_task(nopal::counter* c, void (*done)(void*), void* with);
  alpi_task(alpi_task const&) = delete;
  alpi_task& operator=(alpi_task const&) = delete;

  /// From now on what runs on the caller's native stack is this task; until left.
  void entered();
  void left() noexcept;

  /// Waits for one unblock. By the task.
  void block();
  /// Ends one block. The task has not ended.
  void unblock();

  /// More events. False: there would be too many. By the task.
  bool add_events(std::uint64_t n) noexcept;
  /// Fulfils events. False: there are fewer. The last one completes the task, if its body has ended.
  bool fulfil(std::uint64_t n);
  bool has_events() const noexcept { return word_.load() >= one_event; }
  /// Waits until there are no events. By the task.
  void wait_for_events();

  /// The body has returned. True: it has asked to be suspended, has waited as its mode says, and is to be called again.
  bool waits_to_run_again();
  /// The body has ended for good, or will never run. Completes the task if it has no events. The caller's reference goes.
  void body_ended();
  /// It was not spawned, and ends without having completed.
  void never_ran();

  bool suspended = false;  ///< the body has called alpi_task_suspend. By the task, as these two
  alpi_suspend_mode_t mode = ALPI_SUSPEND_NONE;
  std::uint64_t mode_args = 0;
  bool const independent;  ///< alpi_task_spawn has made it

 private:
  // The word: 1 while the body may run, 2 while it waits until there are no events, and 4 for each event.
  static constexpr std::uint64_t running = 1, awaits_events = 2, one_event = 4;
  ~alpi_task();
  void complete();
  static void is_over();
  void hold() noexcept { references_.fetch_add(1); }
  void drop() noexcept {
    if (references_.fetch_sub(1) == 1) delete this;
  }

  std::atomic<std::uint64_t> word_{running};
  std::atomic<unsigned> references_{1};
  nopal::semaphore unblocked_{0};
  nopal::semaphore no_events_{0};
  nopal::counter* const counter_;
  void (*const done_)(void*);
  void* const with_;
  nopal::core::stack* on_ = nullptr;
  alpi_task* around_ = nullptr;  ///< the task that ran on this stack before; or null
};

namespace nopal::inline NOPAL_ABI::alpi {

/// The task on whose native stack the caller runs; or null.
alpi_task* current_task() noexcept;
/// The pool, and how many tasks there are. Under the mutex.
struct chosen_pool {
  std::mutex mutex;
  pool* chosen = nullptr;  ///< null: the default pool
  std::size_t tasks = 0;
};
chosen_pool& chosen();

}  // namespace nopal::alpi
