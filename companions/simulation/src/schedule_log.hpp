#pragma once

// The decisions of controlled schedules, in the file that NOPAL_SCHEDULE_LOG names: for ./nopal shrink (tools/shrink.py), which makes a failing
// run again with fewer of them. Nothing happens where that variable is not set. Next: controlled_schedule.hpp.

#include <cstdint>

#include "simulation/src/schedule_choice.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;

/// Opens the file, for a pool that is being made, if it is not open yet. Throws std::system_error where it cannot be written.
void begin_schedule_log();
/// Adds a line: a decision that is not the usual one. `what`: f, at a fork; w, at a wait, on the stack `left`; s, before something stolen
/// begins; i, where a worker found nothing; n, where all were idle. With where the program stands, as addresses in its objects. At once, since
/// the program may end at any moment. By the worker `from` that has had the turn, on its thread; or, for n, by any thread.
void log_decision(listed_decision const& d, char what, unsigned from, stack const* left) noexcept;
/// Adds a line: how many decisions a pool has made, and how many turns were lost.
void log_end(schedule_choice const& choice, unsigned workers, std::uint64_t decisions, std::uint64_t lost) noexcept;

}  // namespace nopal::core
