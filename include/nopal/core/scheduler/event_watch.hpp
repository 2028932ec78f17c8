#pragma once

// Events from outside while no worker waits for them: the timer's thread looks from time to time. ../sleep/README.md, "Events". Next: search.hpp, whose
// sleep is such a wait.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// While no worker waits in the source, the timer's thread looks there, once in tuning::between_polls. Called when the pool's threads begin.
void look_at_events_later(pool_state& pool) noexcept;

}  // namespace nopal::core
