#pragma once

// The span if what is forked at one place were serial, or took no time. A region may ask that of one place. The span if it took no time is
// one more length of each path. If it were serial, what follows each of its forks would begin where the child ends, which is not known
// while both run: so each procedure counts from its own beginning, and each join puts its children's lengths into order. Next:
// measured_join.hpp.

#include <cstdint>
#include <string>

#include "nopal/profile/site.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The asked place: any file with a name that ends so. Never freed, since procedures may outlive their region.
struct asked_place {
  std::string file;
  std::uint32_t line;
};
/// True if the site is at the asked place. O(1), usually one comparison.
bool is_asked(asked_place const& place, site_id site) noexcept;

/// What a child gives to its parent's join, for the span if all forks of the asked place were serial.
struct child_in_series {
  unsigned order;
  bool serial;           ///< it was forked at the asked place
  std::uint64_t from;    ///< the parent's count at the fork
  std::uint64_t length;  ///< the child's count
};

}  // namespace nopal::core
