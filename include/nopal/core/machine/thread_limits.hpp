#pragma once

// How many threads this process may still start, by the limits of the system, the user, the cgroup and the address space. For
// scheduler.cpp, when a pool is made or cannot be, on any thread. README.md, "How many threads". Next: cpus.hpp, how many can run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// One limit, and how much of it is used.
struct thread_limit {
  std::string name;    ///< its name in the system: of its file or command
  std::string unit;    ///< what it counts
  std::string remedy;  ///< how to raise it
  std::uint64_t most;
  std::uint64_t used;
  std::uint64_t each;  ///< what one more worker's thread needs of it, at least

  /// How many more threads fit.
  std::uint64_t room() const noexcept { return used < most ? (most - used) / each : 0; }
  /// "N is M units, of which K are in use": the beginning of a message.
  std::string in_words() const;
};

/// The folders from which the limits are read: tests set others.
struct limit_files {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

/// All limits that can be read; others do not limit. Some files, of which /proc/self/maps has a line for each mapping: 1 ms for ten
/// thousand of these. Throws std::bad_alloc.
std::vector<thread_limit> read_thread_limits(limit_files const& where = {});

/// The limit that leaves the least room, if that is less than `threads`.
std::optional<thread_limit> limit_below(std::vector<thread_limit> const& limits, std::uint64_t threads);

}  // namespace nopal::core
