#pragma once

// The trace of one pool, an observer of it: a ring for each worker, one for threads outside, and the file. Made with the pool, if
// pool_options::trace or the environment asks for it. Next: ring.hpp; timeline.hpp, which draws the events; trace_files.hpp, who writes
// when.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/options.hpp"
#include "trace/src/ring.hpp"
#include "trace/src/trace_files.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
