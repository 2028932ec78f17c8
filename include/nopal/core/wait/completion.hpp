#pragma once

// The end of a submitted job. It happens once, and futures wait for it: any number of stacks and threads, with time limits and without.
// Stacks of workers wait at a counter of one: README.md, "A counter". Threads that work for no pool wait at an event, which is one exchange
// where a counter has a list and a lock. Next: ../../future.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

class NOPAL_API completion {
 public:
  /// True if the job has ended. Once true it stays so. The event's acquire pairs with set, for the result. Any thread.
  bool is_set() const noexcept { return for_threads_.is_set(); }
  /// Wakes every waiter, in O(waiters). Once, by the job's end. This is not its last access: the job keeps the completion alive until set
  /// returns.
  void set() noexcept;
  /// Waits: a worker suspends the stack, a thread that works for no pool sleeps. Any thread. Throws nopal::stopped; in a region with a
  /// deadline also what wait_until throws.
  void wait();
  /// As wait, until `deadline`. False: that expired first. Throws nopal::stopped, std::bad_alloc, std::system_error.
  bool wait_until(time_point deadline);

  using watched = basic_counter<timed_stack_waits>::waiter;
  /// Enters `w`, which set wakes. False: it is set. Any thread.
  bool watch(watched& w) noexcept { return for_stacks_.watch(w); }
  /// Takes `w` out. False: set wakes it, or has.
  bool unwatch(watched& w) noexcept { return for_stacks_.unwatch(w); }

 private:
  event for_threads_;  // set first
  basic_counter<timed_stack_waits> for_stacks_{1};
};

/// Throws std::logic_error: an operation, `what`, was called on a future without a result.
NOPAL_API [[noreturn]] NOPAL_COLD void throw_empty_future(char const* what);

}  // namespace nopal::core
