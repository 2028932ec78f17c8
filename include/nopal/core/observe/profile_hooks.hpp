#pragma once

// The hooks of a profile in files compiled without NOPAL_PROFILE: empty. With it, nopal/profile/hooks.hpp defines the same names. Called
// by ../task/child.hpp and ../scheduler/typed_job.hpp.

#include "nopal/core/compiler/config.hpp"

#if NOPAL_PROFILES
#include "nopal/profile/hooks.hpp"
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
