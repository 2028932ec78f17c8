#pragma once

// Several observers in one pool, and those that observe_new_pools and
// bring_events_to_new_pools have added. Next: nopal/core/observe/observer.hpp.

#include <memory>
#include <vector>

#include "nopal/core/observe/observer.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Makes the observers of observe_new_pools for `pool`, and appends them to `these`. Throws what the makers do, and std::bad_alloc.
void add_named_observers(std::vector<std::unique_ptr<observer>>& these, pool_state& pool);
/// What the first of bring_events_to_new_pools returns that returns a source; null: none does. Throws what it does.
std::shared_ptr<event_source> named_events();
/// Null for none; the only one; or one that calls all, in their order. Throws std::bad_alloc.
std::unique_ptr<observer> as_one(std::vector<std::unique_ptr<observer>> these);

}  // namespace nopal::core
