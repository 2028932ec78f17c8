#pragma once

// What all that a deque holds was offered in, and what a thief takes over with an entry: the floating-point mode and the stop region. Why
// two words for a whole deque suffice: ../scheduler/README.md, "Floating-point mode", and ../stop/README.md. Next: deque.hpp.

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/stop/region_id.hpp"

namespace nopal::core {

struct offered_in {
  control_words mode;
  region_id region;

  bool operator==(offered_in const&) const = default;
};

}  // namespace nopal::core
