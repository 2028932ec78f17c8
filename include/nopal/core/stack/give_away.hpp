#pragma once

// Giving away what a strand has offered, when its worker leaves the native stack or the strand moves: README.md, "Empty when it moves". Next:
// suspension.hpp.

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/orphan_memory.hpp"

namespace nopal::core {

/// Empties `w`'s deque, by its owner, and rewinds it: what was offered goes where any worker finds it, as if it had been stolen. `memory` was
/// got for all of it, and is empty afterwards.
void give_everything_away(worker& w, orphan_memory& memory) noexcept;

}  // namespace nopal::core
