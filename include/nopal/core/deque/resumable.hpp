#pragma once

// A resumable: anything that a worker can be told to run from where it stands, but for a task's frame, which has no room for this. A job that
// has not started, the later half of a fork in an ordinary function, a native stack that was left. Next: continuation.hpp.

namespace nopal::core {

class worker;

/// Whoever takes it calls run once. It may be gone when run returns, or as soon as it is queued: another worker may have run it by then.
struct resumable {
  using run_function = void (*)(resumable&, worker&) noexcept;

  resumable* next;  ///< in the queue that holds it; undefined elsewhere
  run_function run;

  constexpr explicit resumable(run_function f = nullptr) noexcept : run{f} {}
};

}  // namespace nopal::core
