#pragma once

// Waits that follow what was waited for: how far those have come who have counted a counter down, by the counter's address. Any
// thread. Next: nopal/counter.hpp, which calls these.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Whoever waits for `what` follows this point of a procedure of `region`.
void signal_in_profile(void const* what, std::uint32_t region, point const& at) noexcept;
/// As above, for the calling procedure, where one is measured.
NOPAL_API void signal_from_here(void const* what) noexcept;
/// A thing begins its life at this address: nothing was signalled to it yet.
NOPAL_API void begin_signals(void const* what) noexcept;
/// Nobody asks for this region any more.
void forget_signals(std::uint32_t region) noexcept;

}  // namespace nopal::core
