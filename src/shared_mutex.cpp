#include "nopal/shared_mutex.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI {

// It is not free, or threads are at the queue.
void shared_mutex::lock_slowly(share s) noexcept { word_.lock_slowly(s); }
bool shared_mutex::try_lock_slowly(share s) noexcept { return word_.try_lock_slowly(s); }
void shared_mutex::unlock_slowly(share s) noexcept { word_.unlock_slowly(s); }

bool shared_mutex::lock_until(share s, core::time_point deadline) {
  core::in_order();
  if (word_.lock_if_free(s) || word_.lock_until(s, deadline)) return true;
  core::throw_if_wait_was_stopped();
  return false;
}

// It is being destroyed, and is locked or waited for. Other threads may still use it.
void shared_mutex::die_destroyed() noexcept {
  core::die_unless_in_exit(word_.is_awaited()
                               ? "a shared_mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock"
                               : "a shared_mutex was destroyed while it is locked; unlock it first");
}

}  // namespace nopal
