#pragma once

// profile_report: the measurements of a profile, by the places that fork. Next: profile.hpp.

#include "nopal/core/compiler/config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI {

/// The unit in which a region is measured.
enum class profile_unit : unsigned char {
  time,   ///< nanoseconds of running code
  calls,  ///< each task, function of a parallel_invoke or a scope, fiber and job counts 1: the result is the same for each schedule
};

/// The procedures that one place in the source has forked.
struct profile_site {
  std::string function;  ///< the function that forks; in brackets if there is no place
  std::string file;      ///< or empty
  unsigned line = 0;
  std::uint64_t procedures = 0;  ///< the number forked there
  double work = 0;               ///< of those procedures themselves, without what they have forked
  double span = 0;               ///< the part of that on the longest path
};

/// The measurements of a region. Times are in nanoseconds.
struct NOPAL_API profile_report {
  profile_unit unit = profile_unit::time;
  double work = 0;                  ///< T1: the time of one worker
  double span = 0;                  ///< T∞: the longest path
  double burden = 0;                ///< of a continuation or return that moves to another worker
  double burdened_span = 0;         ///< the longest path if each continuation and return moved
  std::vector<profile_site> sites;  ///< those with the most work first
  /// The place of profile_options::what_if. Empty if nothing was asked, or nothing was forked there.
  std::string asked;
  double free_work = 0;  ///< if what is forked there took no time, except what that forks elsewhere
  double free_span = 0;
  double serial_span = 0;      ///< if its forks were calls; NaN if not known, since something waits for a fiber or a future
  std::uint64_t not_kept = 0;  ///< how often memory was lacking for a part: if not 0, the numbers are too small

  /// The number of workers that have work on average: a bound of the speed-up.
  double parallelism() const noexcept { return span > 0 ? work / span : 1; }
  /// As parallelism, with the burden of stealing: if it is much smaller, the forked parts are too small.
  double burdened_parallelism() const noexcept { return burdened_span > 0 ? work / burdened_span : 1; }
  /// The greatest speed-up on so many workers: the work law and the span law.
  double greatest_speedup(unsigned workers) const noexcept;
  /// The least speed-up to expect on so many workers: docs/profile.md.
  double expected_speedup(unsigned workers) const noexcept;

  /// All of it as a table of text. Throws std::bad_alloc.
  std::string table() const;
  /// All of it as JSON, for `bench/profile_plot.py`. Throws std::bad_alloc.
  std::string json() const;
};

}  // namespace nopal
