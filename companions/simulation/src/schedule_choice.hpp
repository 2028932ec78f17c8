#pragma once

// Which schedule a pool is to have, and what decides it. Read from the options or from NOPAL_SCHEDULE. Next: controlled_schedule.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A decision of a run that is to be made again: decision `at` of pool number `pool` gives worker `to` the turn.
struct listed_decision {
  unsigned pool;
  std::uint64_t at;
  unsigned to;
};

/// A schedule, with what decides it.
struct schedule_choice {
  nopal::schedule how = nopal::schedule::free;
  std::uint64_t seed = 0;
  unsigned pool = 0;  ///< how many pools have read the environment before this one
  // Of by_priority:
  std::uint64_t depth = 3;     ///< how many orders between two workers' steps a bug may need
  std::uint64_t steps = 1000;  ///< how many decisions a run has, at most
  // Of steal_at_random and by_priority: only these change whose turn it is, wherever somebody can go on.
  bool only_listed = false;
  std::vector<listed_decision> list = {};
  std::string machine = {};  ///< that is simulated, where `how` is free; empty: none is

  /// "random:7", "always", "never:7", "pct:7:d=2:k=500", "only:random:7:12>1,40>0", "simulate:2x56". Throws std::invalid_argument, with the text and what to write
  /// instead.
  static schedule_choice parse(std::string_view text);
  /// What the environment variable NOPAL_SCHEDULE says. Each pool that reads it gets a seed of its own, by the order in which pools read
  /// it.
  static schedule_choice from_environment();
};

}  // namespace nopal::core
