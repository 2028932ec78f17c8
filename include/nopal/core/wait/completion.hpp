#pragma once

// The end of a submitted job: it comes once, and futures wait for it: any number of stacks and threads, with time limits and without.
// The stacks of workers wait at a counter of one, for which README.md, "Waiting", holds; threads that work for no pool at an event, which
// is one exchange where a counter has a list and a lock. Next: ../pool.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::core {

class NOPAL_API completion {
 public:
  /// acquire: pairs with set, for the result. Once true it stays so.
  bool is_set() const noexcept { return for_threads_.is_set(); }
  /// Once. Not the last touch: this must outlive it.
  void set() noexcept;
  /// A worker's stack is left, a thread sleeps.
  void wait() noexcept;
  /// False: the time came first. Throws std::bad_alloc, std::system_error.
  bool wait_until(time_point limit);

 private:
  event for_threads_;  // set first
  basic_counter<stack_waits> for_stacks_{1};
};

/// For a future without a result, of which `what` was asked.
NOPAL_API [[noreturn]] NOPAL_COLD void throw_empty_future(char const* what);

}  // namespace nopal::core
