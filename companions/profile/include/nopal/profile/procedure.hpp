#pragma once

// A procedure is the unit that a profile measures: a task, a function that parallel_invoke or a scope runs, a fiber, a job, or the region
// itself. It moves along a path of the program's dag, and counts its work. The thread that runs it calls the hooks where it begins, forks,
// waits, joins and ends. None of them suspends. Next: hooks.hpp, forks.hpp and task_profile.hpp, the front ends' hooks.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/profile/path.hpp"
#include "nopal/profile/site.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The region of a procedure, and how it is measured. Copied into each procedure, so that none needs the region after the region's end.
struct measuring {
  std::uint32_t region = 0;  ///< its number; 0: nothing is measured
  bool in_calls = false;     ///< each procedure counts 1; else in ticks of the processor's clock
  std::uint64_t burden = 0;  ///< of a continuation or a return
  asked_place const* asks = nullptr;
};

/// What a procedure begins with. Made by the procedure that forks it; it may be copied, and used by another thread.
struct procedure_start {
  measuring in;
  site_id site = site_unknown;
  point at;
  measured_join* to = nullptr;  ///< where its path meets its parent's; or null
  unsigned order = 0;           ///< among the children of that join
  bool is_asked = false;        ///< it is forked at the asked place
  std::uint64_t from = 0;       ///< procedure::series of its parent at the fork
  bool returns = true;          ///< its end is a return, which has the burden; false if it is called, or continues its parent
};

struct NOPAL_API procedure final : measured_strand {
  measuring in;
  site_id site = site_unknown;
  std::uint64_t since = 0;    ///< the clock when it last began or continued
  std::uint64_t work = 0;     ///< its own
  std::uint64_t to_path = 0;  ///< the part of it that is not in at.longest yet
  point at;
  measured_join* to = nullptr;
  unsigned order = 0;
  bool returns = true;
  bool is_asked = false;
  bool series_known = true;  ///< false once it has followed a fiber, or a submitted job
  std::uint64_t from = 0;
  std::uint64_t series = 0;    ///< from its own beginning, the longest path if the asked place were serial
  procedure* outer = nullptr;  ///< the procedure that was measured on this stack before

  /// It begins here, and runs from now on. If `s` has no region, nothing is measured while it runs.
  void begin(procedure_start const& s) noexcept;
  /// As begin, for the task whose function has just been called: measured_words::starting.
  void begin_task() noexcept;
  /// It ends, on the stack where it began. `outer` is measured again.
  void end() noexcept;
  /// As end, for a task, which may have moved: on this stack nothing is measured from now on.
  void end_task() noexcept;

  void leave() noexcept override;
  void come_back() noexcept override;
  void follow_signals(void const* what) noexcept override;
  /// Its path continues after the children that have arrived at `j`.
  void join(measured_join& j) noexcept;
  /// Its path continues after `other`, which is the point of a return.
  void follow(point const& other) noexcept;

  /// What its next child begins with. Between leave and come_back. `ahead`: the number of continuations before the child, as the functions
  /// of a parallel_invoke are offered at once.
  procedure_start start_of_child(site_id where, measured_join* joins, unsigned child_order, unsigned ahead = 0) const noexcept;
  /// It continues after a fork, while the child may run elsewhere.
  void continue_behind_fork() noexcept { at.burdened += in.burden; }

 private:
  void finish() noexcept;
  void grow(std::uint64_t by) noexcept;
  void bring_path_up() noexcept;
};

/// The procedure that is measured here; or null.
inline procedure* procedure_here() noexcept { return static_cast<procedure*>(measured_here().running); }

/// Measures, once, the time that the hooks add to a measurement. From then on it is subtracted. Some microseconds. Any thread.
void measure_hook_time() noexcept;

// ---- Waits.

// Waits that follow what they have waited for: the points of the procedures that have counted a counter down, by the counter's address. Any
// thread. Called by nopal/counter.hpp.

/// Procedures that wait for `what` follow this point of a procedure of `region`.
void signal_in_profile(void const* what, std::uint32_t region, point const& at) noexcept;
/// As above, for the calling procedure, if one is measured.
NOPAL_API void signal_from_here(void const* what) noexcept;
/// An object begins its life at this address: it has no signals yet.
NOPAL_API void begin_signals(void const* what) noexcept;
/// Frees the signals of the region, which is no longer used.
void forget_signals(std::uint32_t region) noexcept;

// ---- The whole process.

/// If NOPAL_PROFILE_OUT is set, the whole process is a region, from before main until its end, for a program without a profile of its own.
/// Once; the calling thread's own work belongs to it. In companions/profile/src/profile.cpp.
NOPAL_API void begin_process_region() noexcept;
#if NOPAL_PROFILES
struct NOPAL_PROFILED begins_process_region {
  begins_process_region() noexcept { begin_process_region(); }
};
inline begins_process_region const process_region_begun{};
#endif

}  // namespace nopal::core
