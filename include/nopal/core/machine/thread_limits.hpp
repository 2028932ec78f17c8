#pragma once

// How many threads this process may still start, by the limits of the system, the user, the cgroup and the address space. For
// scheduler.cpp, when a pool is made or cannot be, on any thread. README.md, "How many threads". Next: cpus.hpp, how many can run.

#include <cstddef>
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

// How much memory this process may use. For scheduler.cpp, when a pool is made.

/// The limit of a pool in bytes. `asked`: pool_options::memory_limit. 0: NOPAL_MEMORY_LIMIT, in MiB; if that is unset, empty or 0, half of
/// what the process may use. Throws std::invalid_argument for any other value of it, std::bad_alloc.
std::uint64_t choose_memory_limit(std::size_t asked);

/// The least of the machine's memory, that of the process's cgroups, RLIMIT_AS and RLIMIT_DATA, in bytes. Throws std::bad_alloc.
std::uint64_t usable_memory();

}  // namespace nopal::core
