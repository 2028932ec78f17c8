#pragma once

// The schedule of a pool, and what decides it. Read from the options or from NOPAL_SCHEDULE. Next: controlled_schedule.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A decision to repeat in another run: decision `at` of pool number `pool` gives worker `to` the turn.
struct listed_decision {
  unsigned pool;
  std::uint64_t at;
  unsigned to;
};

struct schedule_choice {
  nopal::schedule how = nopal::schedule::free;
  std::uint64_t seed = 0;
  unsigned pool = 0;  ///< the number of pools that have read the environment before this one
  // Of by_priority:
  std::uint64_t depth = 3;     ///< how many orders between two workers' steps a bug may need
  std::uint64_t steps = 1000;  ///< the most decisions of a run
  // Of steal_at_random and by_priority: a worker that can continue loses the turn only by these decisions.
  bool only_listed = false;
  std::vector<listed_decision> list = {};
  std::string machine = {};  ///< the simulated machine, if `how` is free; empty: none

  /// Reads "random:7", "always", "never:7", "pct:7:d=2:k=500", "only:random:7:12>1,40>0", "simulate:2x56". Throws std::invalid_argument,
  /// with the text and what to write instead.
  static schedule_choice parse(std::string_view text);
  /// Parses the environment variable NOPAL_SCHEDULE. Each pool that reads it gets a seed of its own, by the order in which pools read it.
  static schedule_choice from_environment();
};

}  // namespace nopal::core
