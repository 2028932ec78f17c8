#pragma once

// What the options of a pool, or the environment, switch on: a controlled schedule or a simulated machine, and a trace. This is the one place that
// knows which observers there are. Next: nopal/core/observe/observer.hpp, what the core knows of them.

#include <memory>
#include <vector>

#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/schedules/schedule_choice.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

class attachments {
 public:
  /// Reads the options, and the environment where they say nothing. Throws std::invalid_argument.
  explicit attachments(pool_options const& o);

  /// Is the machine another than this one?
  bool makes_up_machine() const noexcept { return !choice_.machine.empty(); }
  /// The machine on which the workers run. Throws std::invalid_argument, std::system_error.
  topology machine(cpu_limits const& cpus) const;

  /// The place of each worker, on that machine, and the CPUs of this one.
  struct site {
    cpu_limits const& cpus;
    topology const& machine;
    std::vector<place> const& where;
  };
  /// All observers of the pool as one; null: it has none. Throws std::invalid_argument, std::system_error, std::bad_alloc.
  std::unique_ptr<observer> make(pool_options const& o, pool_state& pool, site const& s) const;

 private:
  schedule_choice choice_;
};

}  // namespace nopal::core
