#pragma once

// A procedure: what a profile measures as one, a task, a function that parallel_invoke or a scope runs, a fiber, a job, or the
// region itself. It goes along a path of the program's dag, and counts what it does. Its hooks are called where it begins,
// forks, waits, joins and ends, by whatever runs it. None of them suspends. Next: forks.hpp, task_profile.hpp and
// fiber_profile.hpp, the front ends' hooks.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/profile/measured_join.hpp"
#include "nopal/profile/point.hpp"
#include "nopal/profile/site.hpp"
#include "nopal/profile/what_if.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// In which region something is measured, and how. It is copied into each procedure, so that none needs the region once that has ended.
struct measuring {
  std::uint32_t region = 0;  ///< its number; 0: nothing is measured
  bool in_calls = false;     ///< each procedure counts 1; else in ticks of the processor's clock
  std::uint64_t burden = 0;  ///< of a continuation or a return
  asked_place const* asks = nullptr;
};

/// What a procedure begins with. Made by whoever forks it; it may be copied, and used by another thread.
struct procedure_start {
  measuring in;
  site_id site = site_unknown;
  point at;
  measured_join* to = nullptr;  ///< where its path meets its parent's; or null
  unsigned order = 0;           ///< among the children that go there
  bool is_asked = false;        ///< it is forked at the asked place
  std::uint64_t from = 0;       ///< procedure::series of whoever forks it
  bool returns = true;          ///< its end is a return, which has the burden; not where it is called, or continues its parent
};

struct NOPAL_API procedure final : measured_strand {
  measuring in;
  site_id site = site_unknown;
  std::uint64_t since = 0;    ///< the clock when it last began or continued
  std::uint64_t work = 0;     ///< its own
  std::uint64_t to_path = 0;  ///< what of it at.longest does not have yet
  point at;
  measured_join* to = nullptr;
  unsigned order = 0;
  bool returns = true;
  bool is_asked = false;
  bool series_known = true;  ///< not where it has followed a fiber, or a job that was submitted
  std::uint64_t from = 0;
  std::uint64_t series = 0;    ///< from its own beginning, the longest path if the asked place were serial
  procedure* outer = nullptr;  ///< what was measured on this stack before it began

  /// It begins here, and runs from now on. Where nothing is measured, nothing is while it runs.
  void begin(procedure_start const& s) noexcept;
  /// As begin, for the task whose function has just been called: measured_words::starting.
  void begin_task() noexcept;
  /// It ends, on the stack where it began; what was measured there before is again.
  void end() noexcept;
  /// As end, for a task, which may have moved: on this stack nothing is measured from now on.
  void end_task() noexcept;

  void leave() noexcept override;
  void come_back() noexcept override;
  void follow_signals(void const* what) noexcept override;
  /// Its path goes on behind the children that have arrived at `j`.
  void join(measured_join& j) noexcept;
  /// Its path goes on behind `other`, whose end is a return.
  void follow(point const& other) noexcept;

  /// What its next child begins with, which was left before. The child is the `ahead`th to be offered at once: as many
  /// continuations lie before it.
  procedure_start start_of_child(site_id where, measured_join* joins, unsigned child_order, unsigned ahead = 0) const noexcept;
  /// It continues behind a fork, while the child may run elsewhere.
  void continue_behind_fork() noexcept { at.burdened += in.burden; }

 private:
  void finish() noexcept;
  void grow(std::uint64_t by) noexcept;
  void bring_path_up() noexcept;
};

/// What is measured here; or null.
inline procedure* procedure_here() noexcept { return static_cast<procedure*>(measured_here().running); }

/// Measures, once, what the hooks add to what they measure: it is taken off from then on. Some microseconds. Any thread.
void measure_hook_time() noexcept;

/// Where NOPAL_PROFILE_OUT is set, the whole process is a region, from before main until its end, for a program that knows
/// nothing of profiles. Once; the calling thread's own work belongs to it. In companions/profile/src/process_region.cpp.
NOPAL_API void begin_process_region() noexcept;
#if NOPAL_PROFILES
struct NOPAL_PROFILED begins_process_region {
  begins_process_region() noexcept { begin_process_region(); }
};
inline begins_process_region const process_region_begun{};
#endif

}  // namespace nopal::core
