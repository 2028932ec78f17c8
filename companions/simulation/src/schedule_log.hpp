#pragma once

// The decisions of controlled schedules, in the file that NOPAL_SCHEDULE_LOG names: for ./nopal shrink (tools/shrink.py), which repeats a
// failing run with fewer of them. Does nothing if that variable is not set. Called by controlled_schedule.cpp.

#include <cstdint>

#include "simulation/src/schedule_choice.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;

/// Opens the file, for a pool that is being made, if it is not open yet. Throws std::system_error if it cannot be written.
void begin_schedule_log();
/// Adds a line: a decision that is not the usual one. `what`: f, at a fork; w, at a wait, on the stack `left`; s, before stolen work
/// begins; i, a worker found nothing; n, all were idle; y, a worker made way. For f and w also the return addresses, as offsets in their
/// objects. Written at once, since the program may end at any moment. By the worker `from` that has had the turn, on its thread; for n, by
/// any thread.
void log_decision(listed_decision const& d, char what, unsigned from, stack const* left) noexcept;
/// Adds a line: the number of decisions of a pool, and of turns that were lost.
void log_end(schedule_choice const& choice, unsigned workers, std::uint64_t decisions, std::uint64_t lost) noexcept;

}  // namespace nopal::core
