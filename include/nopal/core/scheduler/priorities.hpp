#pragma once

// Work of high and low priority. It goes into queues of its own, not into rings and inboxes, so that workers find it before or after all
// other work. A priority is that of the stop region in which the work runs, so work outside of all regions is normal and pays nothing.
// due.md, "High and low". Next: due.hpp, how a worker that only forks makes way; ../../priority.hpp, what users say.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Gives `r`, which runs in the region `in`, to the pool's queue of high or low work; where nothing is stolen to worker i's. False: it is
/// normal, and nothing has happened. `r` may have run, and may be gone, when this returns true; the caller keeps the pool alive.
NOPAL_API NOPAL_COLD bool give_by_priority(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept;
/// As above, out of line only where the region is one.
inline bool given_by_priority(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept {
  return in != no_region && give_by_priority(pool, r, in, i);
}
/// Gives `r` as its priority says: as above, or if it is normal into worker i's open inbox.
void give(pool_state& pool, resumable& r, region_id in, unsigned i) noexcept;
/// As above, for work that is high: a stack that was woken, where it was left in a region of high priority. entry_points::give_high.
void give_high(pool_state& pool, resumable& r, unsigned i) noexcept;

}  // namespace nopal::core
