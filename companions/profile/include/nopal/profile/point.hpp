#pragma once

// A point of the program's dag: the work on the longest path from the region's beginning to it. Next: measured_join.hpp, where several
// paths meet; procedure.hpp, which moves along one.

#include <cstdint>

#include "nopal/profile/path.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct point {
  std::uint64_t span = 0;
  std::uint64_t burdened = 0;  ///< as span, with the burden of each continuation and return
  std::uint64_t if_free = 0;   ///< the span if what the asked site forks took no time: what_if.hpp
  path longest;                ///< `span` by site
};

}  // namespace nopal::core
