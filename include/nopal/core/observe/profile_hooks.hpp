#pragma once

// What the hooks of a profile are in files that are compiled without NOPAL_PROFILE: nothing. With it, the same names come from
// nopal/profile/noted.hpp and nopal/profile/job_profile.hpp. Called by ../task/child.hpp and ../scheduler/typed_job.hpp.

#include "nopal/core/compiler/config.hpp"

#if NOPAL_PROFILES
#include "nopal/profile/job_profile.hpp"
#include "nopal/profile/noted.hpp"
#else

namespace nopal::inline NOPAL_ABI::core {

/// What starts a child: a pointer to the callable.
template <class F>
using starter = F;

class job_profile {
 public:
  explicit constexpr job_profile(bool) noexcept {}
  constexpr void begin_task() noexcept {}
  struct running {};
  constexpr running begin_function() const noexcept { return {}; }
  constexpr void taken() noexcept {}
};

}  // namespace nopal::core

#endif
