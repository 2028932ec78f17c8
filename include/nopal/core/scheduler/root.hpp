#pragma once

// A root: one job given to a pool, from its submission to its result.

#include <cstdint>
#include <exception>

#include "nopal/core/wait/event.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/scheduler/fork_state.hpp"

namespace nopal::core {

class scheduler;

/// The untyped part; pool.hpp adds the callable, its arguments and the result.
struct alignas(16) root : job {
  /// Starts the callable on the calling worker, as a forked or called child would start. Exceptions go to the worker.
  void (*start)(root&) = nullptr;
  /// The last thing that happens: the result or the error is in place. The root may be gone when it returns.
  void (*finish)(root&) noexcept = nullptr;
  scheduler* pool = nullptr;
  std::exception_ptr error;
};

/// A native stack that waits; as a job it is gone on with.
struct waiting_stack : job {
  stack* what = nullptr;
  scheduler* pool = nullptr;
  unsigned worker = 0;  ///< the one that left it
  void resume() noexcept;
};

/// A way to wait for one event.
class NOPAL_API event : private basic_event<std_sync, waiting_stack> {
 public:
  /// Only the calling thread, which works for no pool, will wait: it then needs no read-modify-write to set it itself. Before anyone
  /// else knows of the event. (A worker's stack may go on on another thread. Only inside the library: see scheduler::run.)
  void only_this_thread_waits() noexcept { waiter_ = this_thread(); }

  using basic_event::is_set;
  void set() noexcept;
  bool await(waiting_stack& w) noexcept;
  void wait() noexcept;
  bool wait_for(std::int64_t nanoseconds) noexcept;

 private:
  std::uintptr_t waiter_ = 0;  // an address that is that thread's own
};

}  // namespace nopal::core
