#pragma once

// What the library knows of its companions: a table of those that it was built with, each of which may take part in a new pool, or name functions.
// nopal::core has an empty one. The table is made by CMakeLists.txt, from the folders in companions/. Next: attachments.hpp, who asks them.

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
  topology const& machine;          ///< on which its workers run
  std::vector<place> const& where;  ///< the place of each worker there
};

/// A companion's part in one pool, from before the pool is made until its observer is. Its functions throw std::invalid_argument,
/// std::system_error, std::bad_alloc.
class attachment {
 public:
  attachment() = default;
  attachment(attachment const&) = delete;
  attachment& operator=(attachment const&) = delete;
  virtual ~attachment();
  /// The machine on which the workers run, if it is another than this one.
  virtual std::optional<topology> machine() const { return {}; }
  /// Null: it has nothing to watch.
  virtual std::unique_ptr<observer> watch(pool_site const& site) const = 0;
};

/// What a companion brings; null for what it does not.
struct companion {
  char const* name;
  /// Reads the options, and the environment where they say nothing. Null: the companion has no part in this pool. Throws
  /// std::invalid_argument.
  std::unique_ptr<attachment> (*attach)(pool_options const& o);
  std::unique_ptr<code_names> (*names)();
};

/// Those that the library was built with, in the order in which their observers are told.
std::span<companion const* const> companions() noexcept;

}  // namespace nopal::core
