#include "nopal/call_once.hpp"

#include <cstdint>
#include <system_error>

#include "nopal/mutex.hpp"

namespace nopal::inline NOPAL_ABI {

// Waits for the turn. The function may have returned when the turn comes.
once_flag::turn::turn(once_flag& flag) : flag_{flag} {
  core::in_order();
  std::uintptr_t const self = core::self();
  if (std::uintptr_t seen; flag.mutex_.lock_if_free(self, seen)) return;
  if (flag.mutex_.owner() == self) {
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a function that call_once runs has called call_once with the same flag and would wait for its own end; "
                            "use what it makes only after it has returned, or give what it needs a flag of its own"};
  }
  flag.mutex_.lock_in_turn(self);
}

// By the stack that made it: the function may have changed the worker, but not the stack.
once_flag::turn::~turn() {
  core::in_order();
  flag_.mutex_.unlock(core::self());
}

}  // namespace nopal
