#pragma once

// The traces of pools, and the files that they are written into. Next: ring.hpp, what was recorded; timeline.hpp, which draws it.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nopal/core/base/process.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/options.hpp"
#include "trace/src/ring.hpp"
#include "trace/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Files.

// An object that is written into a trace file, at its own end or at the end of the process. The only one is a pool_trace; trace_files
// keeps a list of all.

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

// A thread that forks holds the lock of the traces during the fork: pool_trace.cpp, in its fork_hook.

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
// process ends are written then. ../README.md, "When it is written". Called by pool_trace and by trace_span.cpp, and around forks.

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

// ---- The trace of a pool.

// An observer of the pool: a ring for each worker, one for threads outside, and the file. Made with the pool, if
// pool_options::trace or the environment asks for it.

class pool_trace final : public observer, public trace_source {
 public:
  static constexpr char kind{};  ///< for observer::find

  /// Null if neither `o` nor the environment asks for a trace. Makes the file, so that a wrong name is found before anything runs: throws
  /// std::system_error; also std::invalid_argument for a wrong number of events, and std::bad_alloc.
  static std::unique_ptr<pool_trace> make(pool_options const& o, unsigned workers);
  /// Writes nothing. Not while the pool's threads run.
  ~pool_trace() override;

  trace_ring& of(unsigned worker) noexcept { return *rings_[worker]; }
  /// The ring of that worker; null if its pool is not traced.
  static trace_ring* of(worker const& w) noexcept;

  /// Adds the events since the last call to the file; workers may record at the same time. If that fails, says so on stderr. Does nothing
  /// in the child of a fork. Any thread.
  void write() noexcept;

  // ---- Calls by the pool.

  void pool_has_ended() noexcept override { write(); }
  void comes(brought what, worker* by) noexcept override;
  void strand_begins(worker& w, strand_kind what, void const* code, void const* object) noexcept override;
  void strand_leaves(worker& w, waits_for const& why) noexcept override;
  void strand_resumes(worker& w, stack const& s, waits_for const* why) noexcept override;
  void waits_on_top(worker& w, stack const& s, waits_for const& why) noexcept override;
  void waited_on_top(worker& w, stack const& s, waits_for const& why) noexcept override;
  void task_waits(worker& w, frame const* task) noexcept override;
  void task_resumes(worker& w, frame const* task) noexcept override;
  void runs_none(worker& w) noexcept override;
  void took(worker& w, worker const& victim) noexcept override;
  void sleeps(worker& w) noexcept override;
  void wakes(worker& w, bool slept) noexcept override;
  void naps(worker& w) noexcept override;
  void napped(worker& w) noexcept override;

 private:
  pool_trace(std::string to, std::string name, std::size_t room, unsigned workers);
  void append_to(std::string& bytes, std::uint32_t addition) override;

  std::string const name_;  // of the pool
  std::uint64_t const number_;
  std::vector<std::unique_ptr<trace_ring>> rings_;
  shared_ring outside_;
  std::size_t outside_taken_ = 0;
};

}  // namespace nopal::core
