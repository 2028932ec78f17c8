#pragma once

// The end of a submitted job: it comes once, and futures wait for it: any number of stacks, tasks and threads, with time limits and without.
// It is a counter of one, so that all that README.md says under "Waiting" holds for futures, too. Next: ../pool.hpp.

#include "nopal/core/config.hpp"
#include "nopal/core/counter_word.hpp"
#include "nopal/core/timer.hpp"
#include "nopal/core/waiter.hpp"

namespace nopal::core {

class completion {
 public:
  /// acquire: pairs with set, for the result. Once true it stays so.
  bool is_set() const noexcept { return running_.load() <= 0; }
  /// Once.
  void set() noexcept;
  /// A worker's stack is left, a thread sleeps.
  void wait() noexcept;
  /// False: the time came first. Throws std::bad_alloc, std::system_error.
  bool wait_until(time_point limit);

 private:
  basic_counter<stack_waits> running_{1};
};

/// For a future without a result, of which `what` was asked.
[[noreturn]] NOPAL_COLD void throw_empty_future(char const* what);

}  // namespace nopal::core
