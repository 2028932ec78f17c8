#pragma once

// profile: work, span and parallelism of a region of the program, by the places that fork: docs/profile.md. It measures code compiled with
// NOPAL_PROFILE: in CMake, targets that link nopal::profile. Next: companions/profile/README.md, how it measures.

#include "nopal/core/compiler/config.hpp"

#include <string>

#include "nopal/profile/procedure.hpp"
#include "nopal/profile_report.hpp"

namespace nopal::inline NOPAL_ABI {

struct profile_options {
  profile_unit unit = profile_unit::time;
  /// The cost of moving a continuation to another worker, or of returning from one: in nanoseconds, or in calls. Less than 0: for time the
  /// cost on this machine, which the first region measures, in some milliseconds; for calls 0.
  double burden = -1;
  /// "file.cpp:12": the report also has the span if the forks of that line were serial, and if what they fork took no time. Any file with a
  /// name that ends so. Empty: nothing is asked.
  std::string what_if{};
};

/// A region: what the calling function does from here to stop(), and all that is forked in it, which must be joined in it. Regions may
/// nest: the outer one includes the inner one. By the function that makes it, on any thread, in a task or fiber too.
///
///     nopal::profile p;
///     pool.run(solve, problem);
///     p.stop();
///     std::cout << p.report().table();
class profile {
 public:
#if NOPAL_PROFILES
  /// Throws std::invalid_argument if it is inside a region of another unit, or the burden is not a number; std::bad_alloc.
  NOPAL_PROFILED explicit profile(profile_options const& options = {}) { begin(options); }
#else
  template <class Options = profile_options>
  explicit profile(Options const& = {}) {
    static_assert(sizeof(Options) == 0,
                  "nopal: a profile measures only what is compiled with NOPAL_PROFILE. In CMake, link nopal::profile.");
  }
#endif
  profile(profile const&) = delete;
  profile& operator=(profile const&) = delete;
  /// Stops.
  NOPAL_API ~profile();

  /// Ends the region. Does nothing if it has ended. By the function that has made it.
  NOPAL_API void stop() noexcept;
  /// The measurements. Once stopped. Throws std::logic_error before that, and std::bad_alloc.
  NOPAL_API profile_report report() const;

 private:
  NOPAL_API void begin(profile_options const& options);

  core::procedure region_;
  bool stopped_ = false;
};

}  // namespace nopal
