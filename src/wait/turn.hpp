#pragma once

// A turn at what one caller does while the others wait for its end, without blocking their threads: a mutex that its owner must not ask for
// again. Used by locks.cpp and fibers.cpp.

#include <cstdint>
#include <system_error>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/mutex.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Waits for the turn. Throws std::system_error (resource_deadlock_would_occur) with `message` if the caller has it: it would wait for itself.
inline void take_turn(basic_mutex<stack_waits>& at, char const* message) {
  in_order();
  std::uintptr_t const me = self();
  if (std::uintptr_t seen; at.lock_if_free(me, seen)) return;
  if (at.owner() == me) throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur), message};
  at.lock_in_turn(me);
}

/// Passes it on. By the stack that took it, whose worker may be another by now.
inline void pass_turn(basic_mutex<stack_waits>& at) {
  in_order();
  at.unlock(self());
}

}  // namespace nopal::core
