#include "nopal/core/scheduler/statistics.hpp"

#include <algorithm>

#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

stats read_stats(pool_state const& pool) {
  stats all;
  std::vector<std::uint64_t> const pages = pool.stacks.resident_pages_by_maker();
  for (worker const* w : pool.workers) {
    worker_stats one;
    for (std::size_t k = 0; k < public_counters.size(); ++k) one.*public_counters[k] = w->count.read(static_cast<counted>(k));
    stack_counts const its = pool.stacks.counts(w->index());
    one.stacks_live = its.live;
    one.stacks_peak = its.peak;
    one.unmaps = its.unmaps;
    one.purges = its.purges;
    one.pages_returned = its.pages_returned;
    one.stack_pages = pages[w->index()];
    all.per_worker.push_back(one);
    all += one;
  }
  // Not the sums: the workers' peaks were at different times, and their numbers of stacks were read one after the other.
  stack_counts const c = pool.stacks.counts();
  all.stacks_live = c.live;
  all.stacks_peak = c.peak;
  stacklet_counts const segments = pool.stacklets.counts();
  all.segment_bytes = segments.used;
  all.segment_bytes_peak = segments.used_peak;
  all.segment_bytes_free = segments.free;
  all.stack_pages_peak = std::max(all.stack_pages, pool.stacks.most_pages_held(pool.size()));
  if (pool.observed != nullptr) all.lost_turns = pool.observed->lost_turns();
  return all;
}

}  // namespace nopal::core
