#pragma once

// profile_report: what a profile has measured, by the places that fork. Next: profile.hpp.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI {

/// In what a region is measured.
enum class profile_unit : unsigned char {
  time,   ///< in nanoseconds, of what ran
  calls,  ///< each task, function of a parallel_invoke or a scope, fiber and job counts 1: the schedule changes nothing
};

/// What one place in the source has forked.
struct profile_site {
  std::string function;  ///< that forks; or what else it is, where there is no place
  std::string file;      ///< or empty
  unsigned line = 0;
  std::uint64_t procedures = 0;  ///< that were forked there
  double work = 0;               ///< of those procedures themselves, without what they have forked
  double span = 0;               ///< what of that lies on the longest path
};

/// What a region has done. Times are in nanoseconds.
struct NOPAL_API profile_report {
  profile_unit unit = profile_unit::time;
  double work = 0;                  ///< T1: the time of one worker
  double span = 0;                  ///< T∞: the longest path of what must follow each other
  double burden = 0;                ///< of a continuation or return that moves to another worker
  double burdened_span = 0;         ///< the longest path if each continuation and return moved
  std::vector<profile_site> sites;  ///< those with the most work first
  /// What if? Empty where nothing was asked, or nothing was forked there.
  std::string asked;     ///< the place
  double free_work = 0;  ///< if what is forked there took no time, but for what that forks elsewhere
  double free_span = 0;
  double serial_span = 0;      ///< if its forks were calls; not a number where that is not known: what waits for a fiber or a future
  std::uint64_t not_kept = 0;  ///< how often there was no memory for something: if not 0, the numbers are too small

  /// How many workers have something to do on average; no more can be gained.
  double parallelism() const noexcept { return span > 0 ? work / span : 1; }
  /// As parallelism, with the burden of stealing: if it is much smaller, what is forked is too small.
  double burdened_parallelism() const noexcept { return burdened_span > 0 ? work / burdened_span : 1; }
  /// The greatest speed-up on so many workers: the work law and the span law.
  double greatest_speedup(unsigned workers) const noexcept;
  /// The least speed-up that is to be expected on so many workers: docs/profile.md.
  double expected_speedup(unsigned workers) const noexcept;

  /// All of it as a table of text. Throws std::bad_alloc.
  std::string table() const;
  /// All of it as JSON, for `bench/profile_plot.py`. Throws std::bad_alloc.
  std::string json() const;
};

}  // namespace nopal
