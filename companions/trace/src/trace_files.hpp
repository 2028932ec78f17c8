#pragma once

// The traces of this process: which files they have begun, that one thread at a time writes, and that what still runs is written when the
// process ends. README.md, "When it is written". Called by pool_trace.cpp and outside_spans.cpp; by scheduler/process.cpp around forks.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"
#include "trace/src/trace_source.hpp"

namespace nopal::inline NOPAL_ABI::core {

class trace_files {
 public:
  /// The file that the environment variable NOPAL_TRACE names; null: none. Not of a set-user-ID program, whose caller would choose which file it
  /// overwrites. The environment must not change meanwhile.
  static char const* by_environment() noexcept;
  /// NOPAL_TRACE_EVENTS, or "".
  static std::string_view events_by_environment() noexcept;
  /// The file's name with %p replaced by the number of this process. Throws std::bad_alloc.
  static std::string named(std::string const& file);
  /// Makes the file empty, unless this process has begun it already. `said_by`: who names it, for what is thrown. Throws std::system_error
  /// and std::bad_alloc.
  static void begin(std::string const& file, char const* said_by);
  /// Writes what is in `t`, and in whatever has ended outside of all pools, at the end of its file.
  static void write(trace_source& t) noexcept;

  /// Another number for each trace of a pool in this process.
  static std::uint64_t next_number();
  /// `t` is written, too, if the process ends before it. Throws std::bad_alloc.
  static void add(trace_source& t);
  static void remove(trace_source& t) noexcept;

 private:
  static void at_exit() noexcept;
  static void write_locked(trace_source& t) noexcept;
};

}  // namespace nopal::core
