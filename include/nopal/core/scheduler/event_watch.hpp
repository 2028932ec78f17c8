#pragma once

// Events from outside while no worker waits for them: the timer's thread looks from time to time. ../sleep/README.md, "Events". Next:
// search.hpp, where a sleeping worker waits for them.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// The timer's thread looks into the event source, once in tuning::between_polls, while no worker waits there. Called when the pool's
/// threads begin.
void look_at_events_later(pool_state& pool) noexcept;

}  // namespace nopal::core
