#pragma once

// An object that is written into a trace file, at its own end or at the end of the process. Next: pool_trace.hpp, the only one; trace_files
// below, which keeps a list of all.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nopal/core/base/process.hpp"
#include "nopal/core/compiler/abi.h"
#include "trace/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI::core {

class trace_source {
 public:
  trace_source(trace_source const&) = delete;
  trace_source& operator=(trace_source const&) = delete;

 protected:
  explicit trace_source(std::string to) : file{std::move(to)} {}
  ~trace_source() = default;

 private:
  friend class trace_files;
  /// Adds what was recorded since the last call to the bytes of the file. `addition`: a different number for each call in one process.
  /// Throws std::bad_alloc. By one thread at a time.
  virtual void append_to(std::string& bytes, std::uint32_t addition) = 0;

  std::string const file;
  unsigned const process = process_number;
  trace_source* next = nullptr;
};

// A thread that forks holds the lock of the traces during the fork: trace_files.cpp, in its fork_hook.

void hold_traces() noexcept;
void release_traces() noexcept;

// What trace_span.cpp has recorded of threads outside. Under the lock.

/// From now on spans of threads outside are recorded. Throws std::bad_alloc.
void record_spans_outside();
/// The spans that have ended, each once; with `open_ones` also those that have not. Throws std::bad_alloc.
std::vector<traced_span> take_spans_outside(bool open_ones);
/// In the child of a fork, under the lock: the child does not write spans that the parent's threads have recorded.
void forget_spans_outside() noexcept;

// The traces of this process: the files they have begun, and the lock by which one thread at a time writes. Pools that still run when the
// process ends are written then. ../README.md, "When it is written". Called by pool_trace.cpp and trace_span.cpp, and around forks.

class trace_files {
 public:
  /// The file that the environment variable NOPAL_TRACE names; null: none. Null in a set-user-ID program: its caller would choose which
  /// file it overwrites. The environment must not change during the call.
  static char const* by_environment() noexcept;
  /// NOPAL_TRACE_EVENTS, or "".
  static std::string_view events_by_environment() noexcept;
  /// The file's name with %p replaced by the number of this process. Throws std::bad_alloc.
  static std::string named(std::string const& file);
  /// Makes the file empty, unless this process has begun it already. `said_by`: what named the file, for the message of the exception.
  /// Throws std::system_error and std::bad_alloc.
  static void begin(std::string const& file, char const* said_by);
  /// Appends what is in `t`, and spans that have ended outside of all pools, to the file of `t`.
  static void write(trace_source& t) noexcept;

  /// A different number for each trace of a pool in this process.
  static std::uint64_t next_number();
  /// `t` is also written if the process ends before it. Throws std::bad_alloc.
  static void add(trace_source& t);
  static void remove(trace_source& t) noexcept;

 private:
  static void at_exit() noexcept;
  static void write_locked(trace_source& t) noexcept;
};

}  // namespace nopal::core
