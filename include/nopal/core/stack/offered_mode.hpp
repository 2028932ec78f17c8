#pragma once

// All that a deque holds was offered in one floating-point mode and one stop region, those of the deque. Called by the forks of all front
// ends when must_poll is true, before they offer; and where the program says that it has changed the mode. Why no thief gets another mode
// or region: ../scheduler/README.md, "Floating-point mode", and ../stop/README.md. Next: give_away.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The strand is about to offer something, and polls. Makes its mode and region those of the deque; first gives away what the deque holds
/// in others. False: there was no memory for that, and nothing may be offered here.
NOPAL_API NOPAL_COLD bool may_offer_here(worker& w) noexcept;
/// A fork or a call that polled has ended. If the deque is empty, the next one polls too, though not too often: so nopal sees a mode that
/// was changed between two parallel sections without a call. By the worker that runs the strand now.
NOPAL_API NOPAL_COLD void polled_fork_ended() noexcept;
/// The code of the strand has changed its mode: the next fork polls.
NOPAL_API NOPAL_COLD void mode_changed(worker& w) noexcept;
/// Ends the program: a thief had another mode than serial execution has.
[[noreturn]] NOPAL_COLD void die_of_mode() noexcept;

}  // namespace nopal::core
