#pragma once

// Waits that follow what they have waited for: the points of the procedures that have counted a counter down, by the counter's address. Any
// thread. Next: nopal/counter.hpp, which calls these.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Procedures that wait for `what` follow this point of a procedure of `region`.
void signal_in_profile(void const* what, std::uint32_t region, point const& at) noexcept;
/// As above, for the calling procedure, if one is measured.
NOPAL_API void signal_from_here(void const* what) noexcept;
/// An object begins its life at this address: it has no signals yet.
NOPAL_API void begin_signals(void const* what) noexcept;
/// Frees the signals of the region, which is no longer used.
void forget_signals(std::uint32_t region) noexcept;

}  // namespace nopal::core
