#pragma once

// "What if what is forked here were serial, or took no time?" A region may ask it of one place. The span if it took no time is
// one more length of each path. If it were serial, what follows each of its forks would begin where the child ends, which
// nobody knows while both run: so each procedure counts from its own beginning, and each join puts its children's lengths into
// their order. Next: measured_join.hpp.

#include <cstdint>
#include <string>

#include "nopal/profile/site.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The place that is asked of: any file whose name ends so. Never freed, since procedures may outlive their region.
struct asked_place {
  std::string file;
  std::uint32_t line;
};
/// Is it this site? O(1), as a rule one comparison.
bool is_asked(asked_place const& place, site_id site) noexcept;

/// What a child was, for its parent's join, if all forks of the asked place were serial.
struct child_in_series {
  unsigned order;
  bool serial;           ///< it was forked at the asked place
  std::uint64_t from;    ///< where the parent was, by its own count
  std::uint64_t length;  ///< what the child has counted
};

}  // namespace nopal::core
