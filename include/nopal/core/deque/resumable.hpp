#pragma once

// A resumable: what a worker can run from where it stands. A job that has not started, the later half of a fork in an ordinary function, a
// native stack that was left. A task's frame is none: it has no room for these three words. Next: continuation.hpp.

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/stop/region_id.hpp"

namespace nopal::inline NOPAL_ABI::core {

class worker;

/// Whoever takes it from its queue calls run once. It may be gone when run returns. It may also be gone as soon as it is queued: another
/// worker may have run it by then.
///
/// run is called by a worker whose strand has ended and whose deque is empty. It adopts `mode` and `region`, and begins a strand and ends it: begin_strand and end_strand, with
/// begin_without_tasks between them for an ordinary function, or, where the deque is rewound, begin_job and end_job for both. Or it resumes a
/// stack and never returns. It may return on another worker: its caller uses nothing afterwards. What a pool's end must wait for is counted: pool_state::pending, or
/// fibers_spawned and fibers_finished.
struct resumable {
  using run_function = void (*)(resumable&, worker&) noexcept;

  resumable* next;  ///< in the queue that holds it; elsewhere the resumable's own: a branch keeps its exception there
  run_function run;
  /// The control words in which run is to run its code: set by whoever queues it in an inbox or a ring, and for a branch by whoever takes it
  /// from a deque. A stack has its own, where the switch finds them, and so has a fiber.
  control_words mode;
  /// The stop region in which run is to run its code: as `mode`. A stack that was left, and not offered, keeps it in its frames.
  region_id region;

  constexpr explicit resumable(run_function f = nullptr) noexcept : run{f} {}
};

}  // namespace nopal::core
