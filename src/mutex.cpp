#include "nopal/mutex.hpp"

#include <system_error>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI {

static_assert(alignof(core::stack) >= 8, "the flags of a mutex lie in the low bits of its owner's address");

// The mutex is owned, by another or by the caller, or threads are at its queue. The caller owns it afterwards, unless this throws.
bool mutex::lock_slowly() {
  std::uintptr_t const self = core::self();
  if (word_.owner() == self) {
    core::self_unlocking();
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the fiber, task or thread that has locked it already and would wait for itself; "
                            "unlock it first, or tell the function that locks it again that it is locked"};
  }
  if (core::task_may_wait_here()) {
    if (std::uintptr_t seen; word_.lock_if_free(self, seen) || (!word_.is_owned(seen) && word_.try_lock_slowly(self))) return false;
    core::self_unlocking();
    return true;
  }
  word_.lock_in_turn(self);
  return false;
}

// On the native stack, or as a thread.
void mutex::lock_here() { word_.lock_in_turn(core::self_locking(this)); }

void core::locking::finish(mutex& m) { m.lock_here(); }

// A task waits without a stack.
bool core::task_waits_for<core::locking>::waits(bool woken) {
  if (woken) {
    if (mutex_.word_.owns_after_wake_up(me_)) return false;
  } else if (mutex_.word_.owner() == task_as_owner()) {
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the task that has locked it already, and would wait for itself; let the first "
                            "held_mutex end before, or call its unlock()"};
  }
  return mutex_.word_.watch(me_);
}
void core::task_waits_for<core::locking>::wait_here() { mutex_.word_.lock_in_turn(task_as_owner()); }

bool mutex::try_lock_slowly() noexcept { return word_.try_lock_slowly(core::self()); }
void mutex::unlock_slowly(std::uintptr_t self) noexcept { word_.unlock_slowly(self); }

// The mutex is being destroyed, and is locked or waited for. Other threads may still use it.
void mutex::die_destroyed() noexcept {
  core::die_unless_in_exit(word_.is_awaited()
                               ? "a mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock()"
                               : "a mutex was destroyed while it is locked; unlock it first");
}

}  // namespace nopal
