#pragma once

// The search for work, at the base of a native stack: what is the worker's own, what is ready, what came from outside, what others have offered;
// and sleep, when there is nothing. Next: sleep/parking.hpp; machine/victim.hpp, whom a thief tries; task/strand_loop.hpp,
// which runs what was found.

#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

/// entry_points::search.
void search_for_work(context& stack) noexcept;
/// Searches at the base of `mine`, which runs here, until the worker's thread is to leave it. Whatever runs on top of that frame may suspend the
/// stack, and another worker of this pool resume it.
void search_on(stack& mine) noexcept;

/// Runs something that was found, if there is anything. `only`: as an external caller, which takes nothing but strands of its own root; or null.
bool find_and_run(worker& w, root const* only) noexcept;

/// Must worker i's thread get up, or not sleep? seq_cst loads: the last look of parking.
bool must_stay(pool_state const& pool, unsigned i) noexcept;

}  // namespace nopal::core
