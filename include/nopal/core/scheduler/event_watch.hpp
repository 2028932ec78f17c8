#pragma once

// Events from outside: a worker looks between two strands, and the timer's thread from time to time while no worker waits for them.
// ../sleep/README.md, "Events". Next: search.hpp, where a sleeping worker waits for them.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class worker;

/// Looks into the pool's event source, which is there, if no other thread is in it. What it wakes is in the worker's ring; or, where only one
/// worker may run it, due. By a worker between two strands.
void look_at_events(worker& w) noexcept;
/// As above, where this worker has entered the source; leaves it.
void look_at_entered_events(worker& w) noexcept;
/// The timer's thread looks into the event source, once in tuning::between_polls, while no worker waits there. Called when the pool's
/// threads begin.
void look_at_events_later(pool_state& pool) noexcept;

}  // namespace nopal::core
