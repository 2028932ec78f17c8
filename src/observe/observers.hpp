#pragma once

// Several observers in one pool, and those that observe_new_pools and
// bring_events_to_new_pools have added. Next: nopal/core/observe/observer.hpp.

#include <memory>
#include <optional>
#include <vector>

#include "nopal/core/observe/observer.hpp"
#include "observe/companion.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Makes the observers of observe_new_pools for `pool`, and appends them to `these`. Throws what the makers do, and std::bad_alloc.
void add_named_observers(std::vector<std::unique_ptr<observer>>& these, pool_state& pool);
/// What the first of bring_events_to_new_pools returns that returns a source; null: none does. Throws what it does.
std::shared_ptr<event_source> named_events();
/// Null for none; the only one; or one that calls all, in their order. Throws std::bad_alloc.
std::unique_ptr<observer> as_one(std::vector<std::unique_ptr<observer>> these);

// The companions' parts in a pool, as its options or the environment switch them on. Next: companion.hpp.

class attachments {
 public:
  /// Throws std::system_error, and std::invalid_argument, also if the options ask for a companion that the library was built without.
  explicit attachments(pool_options const& o);

  /// True if the machine is not this one.
  bool makes_up_machine() const noexcept { return machine_.has_value(); }
  /// The machine that the workers run on. Throws std::system_error.
  topology machine(cpu_limits const& cpus) const { return machine_ ? *machine_ : topology::load(cpus.cpus); }
  /// The options' event source, or else that of the first companion that has one, or else of bring_events_to_new_pools; null if there is
  /// none.
  std::shared_ptr<event_source> const& events() const noexcept { return events_; }

  /// All observers of the pool as one; null if it has none. Throws std::invalid_argument, std::system_error, std::bad_alloc.
  std::unique_ptr<observer> make(pool_site const& site) const;

 private:
  std::vector<std::unique_ptr<attachment>> all_;
  std::optional<topology> machine_;
  std::shared_ptr<event_source> events_;
};

}  // namespace nopal::core
