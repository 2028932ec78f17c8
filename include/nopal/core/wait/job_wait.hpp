#pragma once

// Waiting for a job's end: a worker suspends the stack, a thread that works for no pool sleeps. Next: event.hpp; ../stack/suspension.hpp.

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Waits until `done` is set, which is the end of the job `job`. Any thread.
void wait_for_job(event& done, void const* job) noexcept;
/// Waits until `done` is set, on the worker `w` that runs the caller. Another worker may run the caller afterwards, unless its stack stays.
/// `why` is for reports. `join`: the job that is waited for; null: something else, as for waits_on_top (../stack/home.hpp).
void wait_on_worker(worker& w, event& done, waits_for why, void const* join = nullptr) noexcept;

}  // namespace nopal::core
