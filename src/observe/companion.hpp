#pragma once

// The table of what companions provide to the library that was built with them. Each in it may take part in a new pool, or name functions.
// A companion that does neither, as profile, is not in it. CMakeLists.txt makes the table, of those folders in companions/ that have a
// src/companion.cpp; nopal::core has an empty one. Next: observers.hpp, which calls them; nopal/core/observe/README.md, how to add one.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

class code_names;

/// A pool that is being made.
struct pool_site {
  pool_options const& options;
  pool_state& pool;  ///< not complete: its address may be kept
  cpu_limits const& cpus;
  topology const& machine;          ///< its workers run on this one
  std::vector<place> const& where;  ///< the place of each worker there
};

/// A companion's part in one pool. It lives from before the pool is made until the pool's observer is made. Its functions are called once
/// at most, and throw std::invalid_argument, std::system_error, std::bad_alloc.
class attachment {
 public:
  attachment() = default;
  attachment(attachment const&) = delete;
  attachment& operator=(attachment const&) = delete;
  virtual ~attachment();
  /// The machine that the workers run on, if it is not this one.
  virtual std::optional<topology> machine() const { return {}; }
  /// Brings events to this pool alone, whose options name no source; null: none. A pool with another machine has none: it is refused.
  virtual std::shared_ptr<event_source> events() const { return {}; }
  /// The observer; null: none.
  virtual std::unique_ptr<observer> watch(pool_site const& site) const = 0;
};

/// What a companion provides; null members are not provided.
struct companion {
  char const* name;
  /// Reads the options, or the environment if they say nothing. Null: the companion has no part in this pool. Throws std::invalid_argument.
  std::unique_ptr<attachment> (*attach)(pool_options const& o);
  std::unique_ptr<code_names> (*names)();
};

/// The companions in the table of this library, in the order in which their observers are called.
std::span<companion const* const> companions() noexcept;

}  // namespace nopal::core
