#pragma once

// What was given to a pool, from its submission to its result. Next: typed_job.hpp adds the callable and the result;
// external_caller.hpp and submission.hpp give it to a worker; task/resume_loop.hpp runs it.

#include <exception>

#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// Aligned so that a task can keep parent_bits beside its address, as beside a parent's. One thread at a time uses it: the submitter, then
/// the worker that runs it, then its waiter.
struct alignas(16) job : inheriting {
  /// By the submitter: the job runs in its context.
  job() noexcept { inherit({job_context::now(region_to_hand_over()), values_here()}); }

  /// Starts the callable on the calling worker, as a forked or called child starts. What it throws is put into worker::strand.
  void (*start)(job&) = nullptr;
  /// Called once, last, when the result or the error is in place. The job may be gone when it returns.
  void (*finish)(job&) noexcept = nullptr;
  pool_state* pool = nullptr;
  bool is_counted = false;   ///< it came from outside, and the pool's observer counts it
  std::exception_ptr error;  ///< what the callable threw, or null
};

}  // namespace nopal::core
